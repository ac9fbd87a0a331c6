/* Streams in a trace: their rows, gaps and markers. */

#include "reports/trace_streams.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/profiler.h"
#include "reports/trace_columns.h"
#include "reports/trace_counters.h"
#include "reports/trace_sink.h"
#include "results/timeline.h"

enum { ZT__ROWS_AT_ONCE = 1024 }; /* are copied while a mutex is locked */

/* Begins a slice or an instant of no region. */
static void zt__begin_plain_event(zt__trace_sink *sink, zt__trace_kind kind, const char *name,
                                  const char *category, zt__trace_track track, uint64_t begin_ns,
                                  uint64_t end_ns) {
    zt__trace_event event = {kind, name, category, track, begin_ns, end_ns, 0, NULL};
    sink->format->begin_event(sink, &event);
}

ZT__PRIVATE void zt__begin_instant(zt__trace_sink *sink, const char *name, const char *category,
                                   zt__trace_track track, uint64_t ns) {
    zt__begin_plain_event(sink, ZT__TRACE_INSTANT, name, category, track, ns, ns);
}

ZT__PRIVATE void zt__write_remark(zt__trace_sink *sink, const char *name, const char *category,
                                  zt__trace_track track, uint64_t ns, const char *what, uint64_t count,
                                  const char *remedy) {
    const zt__trace_format *format = sink->format;
    zt__begin_instant(sink, name, category, track, ns);
    format->add_number(sink, what, (double)count);
    format->add_text(sink, "remedy", remedy);
    format->end_event(sink);
}

/* A copy of the rows of a stream, with the chosen figures. */
typedef struct zt__traced_rows {
    uint64_t first, end; /* in the order of all rows of the stream; older ones are not kept */
    uint32_t metric_count;
    double *means; /* of each metric, over so many rows */
    uint64_t *counts;
    zt__kept_row *rows;
    double *figures; /* of each row */
    uint64_t *last;  /* of each column, the bits of the value that was written last */
    uint32_t count;
    zt__trace_columns columns;
} zt__traced_rows;

/* Called with each kept row of a stream, while its mutex is locked. */
typedef void (*zt__row_fn)(zt__traced_rows *rows, const zt__kept_row *row, const double *values);

static void zt__visit_rows(zt__stream_data *data, zt__row_fn visit, zt__traced_rows *rows) {
    uint64_t next = rows->first, oldest;
    while (next < rows->end) {
        uint64_t until = rows->end - next > ZT__ROWS_AT_ONCE ? next + ZT__ROWS_AT_ONCE : rows->end;
        zt__lock(&data->mutex);
        oldest = zt__oldest_kept(data->rows_written, data->row_capacity);
        for (next = next > oldest ? next : oldest; next < until; next++) {
            size_t place = (size_t)(next % data->row_capacity);
            visit(rows, &data->rows[place], data->row_values + place * rows->metric_count);
        }
        zt__unlock(&data->mutex);
    }
}

static void zt__add_to_means(zt__traced_rows *rows, const zt__kept_row *row, const double *values) {
    uint32_t i;
    (void)row;
    for (i = 0; i < rows->metric_count; i++) {
        if (zt__is_finite(values[i])) {
            rows->means[i] += values[i];
            rows->counts[i]++;
        }
    }
}

static void zt__copy_row(zt__traced_rows *rows, const zt__kept_row *row, const double *values) {
    rows->rows[rows->count] = *row;
    zt__compute_columns(&rows->columns, values, rows->metric_count, (double)(row->end_ns - row->begin_ns),
                        rows->figures + (size_t)rows->count * rows->columns.count);
    rows->count++;
}

/* Goes through the rows, and writes or, without a sink, counts the values that differ from the one before.
   Values are rounded by less than 0.025 %, more than which no track shows. Those that are rounded differently
   differ in the first ZT__COUNTER_DIGITS digits. Their bits are compared, which tell NaN apart in any mode of
   a compiler. */
static uint32_t zt__write_changes(zt__trace_sink *sink, zt__traced_rows *rows) {
    const uint64_t none = UINT64_MAX;        /* no value is rounded to this */
    const uint64_t half = UINT64_C(1) << 40; /* 11 of 52 bits stay */
    uint32_t columns = rows->columns.count, changes = 0, i, c;
    for (c = 0; c < columns; c++) {
        rows->last[c] = none;
    }
    for (i = 0; i <= rows->count; i++) {
        int is_end = i == rows->count; /* the last value lasts until the end of its row */
        const zt__kept_row *row = &rows->rows[is_end ? i - 1 : i];
        const double *figures = rows->figures + (size_t)(is_end ? i - 1 : i) * columns;
        for (c = 0; c < columns; c++) {
            double value = figures[c];
            uint64_t rounded;
            memcpy(&rounded, &value, sizeof rounded);
            rounded = (rounded + half) & ~(half * 2 - 1);
            if (!zt__is_finite(value) || (rounded == rows->last[c] && !row->gap && !is_end)) {
                continue;
            }
            rows->last[c] = rounded;
            changes++;
            if (sink) {
                memcpy(&value, &rounded, sizeof value);
                sink->format->write_counter(sink, c, is_end ? row->end_ns : row->begin_ns, value,
                                            ZT__COUNTER_DIGITS);
            }
        }
    }
    return changes;
}

/* Merges each two rows that follow each other, into one with the means over their time. */
static void zt__merge_rows(zt__traced_rows *rows) {
    uint32_t columns = rows->columns.count, from, to = 0, c;
    for (from = 0; from < rows->count; from++, to++) {
        double *figures = rows->figures + (size_t)to * columns;
        zt__kept_row row = rows->rows[from];
        memmove(figures, rows->figures + (size_t)from * columns, columns * sizeof *figures);
        if (from + 1 < rows->count && !rows->rows[from + 1].gap) {
            const double *others = rows->figures + (size_t)++from * columns;
            double length = (double)(row.end_ns - row.begin_ns);
            double other_length = (double)(rows->rows[from].end_ns - rows->rows[from].begin_ns);
            double share = length + other_length > 0 ? other_length / (length + other_length) : 0;
            row.end_ns = rows->rows[from].end_ns;
            for (c = 0; c < columns; c++) {
                if (!zt__is_finite(figures[c])) {
                    figures[c] = others[c];
                } else if (zt__is_finite(others[c])) {
                    figures[c] += (others[c] - figures[c]) * share;
                }
            }
        }
        rows->rows[to] = row;
    }
    rows->count = to;
}

ZT__PRIVATE int zt__write_stream(zt__trace_sink *sink, zt__stream_data *data, int several, uint32_t most,
                                 zt__trace_track track) {
    const zt_allocator *allocator = &sink->profiler->config.allocator;
    const zt__trace_format *format = sink->format;
    uint64_t merged = 1, period_ns = data->period_ns;
    uint32_t metrics = data->group.metric_count, before, i;
    char name[ZET_MAX_METRIC_GROUP_NAME + 16];
    zt__traced_rows rows;
    zt__mean_table table;
    int has_memory;
    memset(&rows, 0, sizeof rows);
    rows.metric_count = metrics;
    rows.means = (double *)zt__allocate(allocator, metrics, sizeof *rows.means);
    rows.counts = (uint64_t *)zt__allocate(allocator, metrics, sizeof *rows.counts);
    zt__get_kept_rows(data, &rows.first, &rows.end);
    has_memory = rows.means && rows.counts;
    if (has_memory) {
        zt__visit_rows(data, zt__add_to_means, &rows);
        for (i = 0; i < metrics; i++) {
            rows.means[i] = rows.counts[i] ? rows.means[i] / (double)rows.counts[i] : zt__nan();
        }
        table.means = rows.means;
        table.stride = metrics;
        table.region_count = 1;
        has_memory = zt__choose_trace_columns(sink->profiler, data->metrics, metrics, &table, 1, several,
                                              &rows.columns);
    }
    if (has_memory) {
        size_t columns = (size_t)rows.columns.count + 1, room = (size_t)(rows.end - rows.first) + 1;
        rows.rows = (zt__kept_row *)zt__allocate(allocator, room, sizeof *rows.rows);
        rows.figures = (double *)zt__allocate(allocator, room, columns * sizeof *rows.figures);
        rows.last = (uint64_t *)zt__allocate(allocator, columns, sizeof *rows.last);
        has_memory = rows.rows && rows.figures && rows.last;
    }
    if (has_memory) {
        zt__visit_rows(data, zt__copy_row, &rows);
    }

    snprintf(name, sizeof name, "stream %s", data->group.properties.name);
    if (rows.count > 0) {
        format->name_track(sink, track, name);
        format->begin_sequence(sink, track);
    }
    if (rows.count > 0 && rows.first > 0) {
        zt__write_remark(sink, "earlier rows are not kept", "missing", track, rows.rows[0].begin_ns, "rows",
                         rows.first, "raise zt_stream_config.timeline_rows");
    }
    for (i = 0; i < rows.count; i++) {
        const zt__kept_row *row = &rows.rows[i];
        if (row->gap && i > 0) { /* a span before the row, which that may follow or contain */
            uint64_t before_ns = row[-1].end_ns;
            int is_contained = row->begin_ns <= before_ns;
            uint64_t begin_ns = is_contained ? row->begin_ns : before_ns;
            uint64_t end_ns = is_contained ? row->end_ns : row->begin_ns;
            uint64_t periods = (row->end_ns - before_ns + period_ns / 2) / period_ns;
            zt__begin_plain_event(sink, ZT__TRACE_SLICE, "gap", "missing", track, begin_ns, end_ns);
            if (periods > 1) {
                format->add_number(sink, "missing rows, about", (double)(periods - 1));
            }
            format->end_event(sink);
            format->end_slice(sink, end_ns);
        } else if (row->gap) {
            zt__begin_instant(sink, "gap before this", "missing", track, row->begin_ns);
            format->end_event(sink);
        }
        if (row->marker) {
            zt__begin_instant(sink, row->marker, "marker", track, row->end_ns);
            format->end_event(sink);
        }
    }
    before = UINT32_MAX;
    while (rows.count > 1 && rows.count < before && zt__write_changes(NULL, &rows) > most) {
        before = rows.count; /* it stays if there is a gap before each row */
        zt__merge_rows(&rows);
        merged *= rows.count < before ? 2 : 1;
    }
    if (merged > 1) {
        zt__write_remark(sink, "values are means of several rows", "merged", track, rows.rows[0].begin_ns,
                         "rows", merged, "choose fewer metrics with config.columns or ZT_COLUMNS");
    }
    if (rows.count > 0) {
        zt__declare_columns(sink, name, "", &rows.columns);
        zt__write_changes(sink, &rows);
    }
    zt__free(allocator, rows.means);
    zt__free(allocator, rows.counts);
    zt__free(allocator, rows.rows);
    zt__free(allocator, rows.figures);
    zt__free(allocator, rows.last);
    zt__free(allocator, rows.columns.columns);
    return has_memory;
}
