/* run.trace.json: the timeline for Perfetto and Chrome. */

#include "reports/trace.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/writer.h"
#include "regions/columns.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/json.h"
#include "reports/trace_counters.h"
#include "reports/trace_events.h"
#include "reports/trace_phases.h"
#include "results/ranking.h"
#include "results/results.h"
#include "results/roles.h"
#include "results/timeline.h"
#include "tracer/results.h"

/* A trace has two processes. One is the program, with a track for each thread that has begun regions,
   executed lists, made timed calls or begun phases. The other is the device, with tracks for phases, for each command
   list and each attached stream, and with counters. Flow events lead from the first to the second. */

enum {
    ZT__SYSTEM_NUMBERS = 1 << 22, /* the system's numbers of processes are lower */
    ZT__TRACE_COLUMNS = 8,        /* the most that are chosen without config.columns */
    ZT__COPIED_AT_ONCE = 1024     /* while a mutex is locked */
};

/* A sample by host time. */
typedef struct zt__span {
    zt__timeline_sample sample;
    uint64_t order;        /* index in the timeline */
    const double *figures; /* GPU time, and the chosen columns */
    double latencies[ZT__LATENCY_COUNT];
    uint32_t track;
    uint32_t outer; /* the span that contains it on its track, or UINT32_MAX */
} zt__span;

/* A track of a command list. Its spans are nested or disjoint. */
typedef struct zt__track {
    ze_command_list_handle_t list;
    const char *list_name;
    uint64_t first_ns;    /* of the list: when its first span began */
    uint32_t overlap;     /* how many tracks of the list are before it */
    uint32_t last;        /* the span that was added last */
    uint32_t number;      /* in the trace, from 1 */
    uint32_t list_number; /* from 1 */
} zt__track;

typedef enum zt__slice_kind {
    ZT__SLICE_PHASE,
    ZT__SLICE_EXECUTE,
    ZT__SLICE_APPEND,
    ZT__SLICE_CALL
} zt__slice_kind;

/* What a thread of the program has done. */
typedef struct zt__host_slice {
    uint64_t begin_ns, end_ns;
    const char *name; /* of the phase, region or call */
    uint32_t thread;
    zt__slice_kind kind;
    uint32_t regions; /* that were executed */
    uint32_t phase;   /* index among the phases of the trace */
    uint64_t kept;    /* of a phase as in zt__traced_phase */
    uint32_t outer;   /* the slice that contains it, or UINT32_MAX */
} zt__host_slice;

/* A metric with its units, such as "GPU_BUSY [%]", after its group if there are several. */
typedef struct zt__label {
    char text[ZET_MAX_METRIC_GROUP_NAME + ZET_MAX_METRIC_NAME + ZET_MAX_METRIC_RESULT_UNITS + 8];
} zt__label;

/* A column of figures. */
typedef struct zt__trace_column {
    zt__ranked_column shown;
    zt__label label;
    double scale;
    int is_rate; /* divided by the length of the row in nanoseconds */
} zt__trace_column;

typedef struct zt__trace_columns {
    zt__advice advice; /* the metrics by their roles */
    zt__trace_column *columns;
    uint32_t count;
} zt__trace_columns;

typedef struct zt__trace {
    zt_profiler *profiler;
    zt__writer *writer;
    long program, device; /* numbers of the two processes */
    zt__trace_columns columns;
    zt__span *spans; /* sorted by list, then by time */
    double *figures; /* of each span */
    uint32_t span_count;
    zt__missing *missing;
    uint32_t missing_count;
    zt__traced_phases phases;
    zt__track *tracks;
    uint32_t track_count;
    zt__execution *executions; /* sorted */
    uint32_t execution_count;
    zt__host_slice *slices; /* sorted by thread, then by time */
    uint32_t slice_count;
    uint64_t replaced; /* samples that newer ones have replaced */
} zt__trace;

/* ---- columns --------------------------------------------------------------------------------------------- */

/* Chooses what is shown: what config.columns names; if it names none of these metrics, the first that tables
   show. Of regions, figures are those of the sample. Of streams, what adds up is shown as a rate, because rows
   differ in length. Returns 0 without memory. */
static int zt__choose_trace_columns(const zt_profiler *profiler, const zt_metric *metrics,
                                    uint32_t metric_count, const zt__mean_table *means, int is_stream,
                                    int several_groups, zt__trace_columns *chosen) {
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t room = (size_t)metric_count + ZT__DERIVED_COLUMNS;
    zt__ranked_column *ranked = (zt__ranked_column *)zt__allocate(allocator, room, sizeof *ranked);
    uint32_t i, naming = ZT__NAMING_COUNT;
    int has_memory;
    chosen->columns = (zt__trace_column *)zt__allocate(allocator, room, sizeof *chosen->columns);
    has_memory = ranked && chosen->columns;
    memset(chosen->advice.metrics, 0xFF, sizeof chosen->advice.metrics);
    for (i = 0; i < metric_count; i++) {
        zt__match_roles(&metrics[i], i, chosen->advice.metrics, &naming);
    }
    if (has_memory) {
        chosen->count = zt__find_chosen_columns(profiler->columns, metrics, metric_count, ranked);
    }
    if (has_memory && chosen->count == 0) {
        chosen->count = zt__rank_columns(metrics, metric_count, &chosen->advice, means, ranked);
        if (chosen->count > ZT__TRACE_COLUMNS) {
            chosen->count = ZT__TRACE_COLUMNS;
        }
    }
    for (i = 0; i < chosen->count; i++) {
        zt__trace_column *column = &chosen->columns[i];
        const zt_metric *metric = ranked[i].metric == UINT32_MAX ? NULL : &metrics[ranked[i].metric];
        zt__quantity quantity = metric ? zt__quantity_of(metric) : ZT__QUANTITY_SHARE;
        const char *units = metric ? metric->units : "", *suffix = "";
        int adds_up = metric && (metric->aggregation == ZT_AGGREGATE_SUM || quantity == ZT__QUANTITY_BYTES);
        column->shown = ranked[i];
        column->scale = 1;
        column->is_rate = is_stream && adds_up;
        if (quantity == ZT__QUANTITY_SHARE) {
            units = "%";
        } else if (quantity == ZT__QUANTITY_RATE) {
            units = "GB/s";
            column->scale = zt__scale_of_rate(metric->units);
        } else if (column->is_rate && quantity == ZT__QUANTITY_BYTES) {
            units = "GB/s";
        } else if (column->is_rate && strcmp(units, "ns") == 0) {
            units = "% of time";
            column->scale = 100;
        } else if (column->is_rate) {
            suffix = "/s";
            column->scale = 1e9;
        }
        snprintf(column->label.text, sizeof column->label.text, "%s%s%s%s%s%s%s",
                 several_groups && metric ? metric->group : "", several_groups && metric ? "." : "",
                 metric ? metric->name : zt__roles[column->shown.role].name, *units || *suffix ? " [" : "",
                 units, suffix, *units || *suffix ? "]" : "");
    }
    zt__free(allocator, ranked);
    return has_memory;
}

/* Computes the figures of a row of metrics. `length_ns` is how long it lasted. */
static void zt__compute_columns(const zt__trace_columns *columns, const double *values, uint32_t metric_count,
                                double length_ns, double *figures) {
    const zt__mean_table row = {values, metric_count, 1};
    uint32_t i;
    for (i = 0; i < columns->count; i++) {
        const zt__trace_column *column = &columns->columns[i];
        figures[i] = zt__ranked_figure(&columns->advice, &row, 0, &column->shown) * column->scale;
        if (column->is_rate) {
            figures[i] = length_ns > 0 ? figures[i] / length_ns : zt__nan();
        }
    }
}

/* ---- reading the timeline -------------------------------------------------------------------------------- */

/* For qsort: orders by list and begin, with outer spans before inner ones. */
static int zt__compare_spans(const void *a, const void *b) {
    const zt__span *one = (const zt__span *)a, *other = (const zt__span *)b;
    if (one->sample.list != other->sample.list) {
        return (uintptr_t)one->sample.list < (uintptr_t)other->sample.list ? -1 : 1;
    }
    if (one->sample.origin.list_name != other->sample.origin.list_name) {
        return (uintptr_t)one->sample.origin.list_name < (uintptr_t)other->sample.origin.list_name ? -1 : 1;
    }
    if (one->sample.begin_ns != other->sample.begin_ns) {
        return one->sample.begin_ns < other->sample.begin_ns ? -1 : 1;
    }
    if (one->sample.end_ns != other->sample.end_ns) {
        return one->sample.end_ns > other->sample.end_ns ? -1 : 1;
    }
    return one->order > other->order ? -1 : one->order < other->order; /* inner regions end first */
}

/* Copies the kept samples, with the figures that are shown of each, and what is kept of missing samples and of
   executions. Returns 0 without memory. */
static int zt__copy_timeline(zt__trace *trace) {
    zt_profiler *profiler = trace->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__timeline *timeline = profiler->timeline;
    uint32_t regions = zt__get_region_count(profiler), metrics = profiler->metric_count;
    uint32_t capacity = timeline ? timeline->capacity : 0;
    double *means = zt__read_means(profiler, regions);
    double *values = (double *)zt__allocate(allocator, profiler->row_length, sizeof *values);
    zt__mean_table table = {means, metrics, regions};
    size_t room, width;
    uint64_t first, end, i, written;
    int has_memory = means && values &&
                     zt__choose_trace_columns(profiler, profiler->metrics, metrics, &table, 0,
                                              profiler->selection.group_count > 1, &trace->columns);
    zt__get_kept_samples(profiler, &first, &end);
    trace->replaced = first;
    room = (size_t)(end - first) + 1;
    width = 1 + (size_t)trace->columns.count;
    trace->spans = (zt__span *)zt__allocate(allocator, room, sizeof *trace->spans);
    trace->figures = (double *)zt__allocate(allocator, room, width * sizeof *trace->figures);
    trace->missing = (zt__missing *)zt__allocate(allocator, ZT__MISSING_KEPT, sizeof *trace->missing);
    trace->executions =
        (zt__execution *)zt__allocate(allocator, (size_t)capacity + 1, sizeof *trace->executions);
    has_memory = has_memory && trace->spans && trace->figures && trace->missing && trace->executions;
    for (i = first; i < end && has_memory; i++) {
        zt__span *span = &trace->spans[trace->span_count];
        if (zt__copy_kept_sample(profiler, i, &span->sample, values)) {
            double *figures = trace->figures + trace->span_count * width;
            span->order = i;
            span->figures = figures;
            figures[0] = values[0];
            memcpy(span->latencies, values + zt__latency_column(profiler, 0), sizeof span->latencies);
            zt__compute_columns(&trace->columns, values + 1, metrics, 0, figures + 1);
            trace->span_count++;
        }
    }
    zt__free(allocator, means);
    zt__free(allocator, values);
    if (trace->span_count) {
        qsort(trace->spans, trace->span_count, sizeof *trace->spans, zt__compare_spans);
    }
    if (!has_memory || !timeline) {
        return has_memory;
    }

    zt__lock(&profiler->mutex);
    written = timeline->missing_written;
    for (i = zt__oldest_kept(written, ZT__MISSING_KEPT); i < written; i++) {
        trace->missing[trace->missing_count] = timeline->missing[i % ZT__MISSING_KEPT];
        trace->missing_count += trace->missing[trace->missing_count].count > 0;
    }
    written = timeline->executions_written;
    zt__unlock(&profiler->mutex);
    i = zt__oldest_kept(written, capacity);
    while (i < written) {
        uint64_t oldest, until = written - i > ZT__COPIED_AT_ONCE ? i + ZT__COPIED_AT_ONCE : written;
        zt__lock(&profiler->mutex);
        oldest = zt__oldest_kept(timeline->executions_written, capacity);
        for (i = i > oldest ? i : oldest; i < until; i++) {
            trace->executions[trace->execution_count++] = timeline->executions[i % capacity];
        }
        zt__unlock(&profiler->mutex);
    }
    return 1;
}

/* Copies the phases, with the time that what was submitted in each took on the device. Returns 0 without
   memory. */
static int zt__make_phases(zt__trace *trace) {
    uint32_t i;
    if (!zt__copy_phases(trace->profiler, &trace->phases)) {
        return 0;
    }
    for (i = 0; i < trace->span_count; i++) {
        const zt__timeline_sample *sample = &trace->spans[i].sample;
        zt__add_to_phase(&trace->phases, sample->origin.entry, sample->begin_ns, sample->end_ns);
    }
    return zt__place_phases(trace->profiler, &trace->phases);
}

/* ---- tracks of lists ------------------------------------------------------------------------------------- */

static int zt__is_track_of(const zt__track *track, ze_command_list_handle_t list, const char *list_name) {
    return track->list == list && track->list_name == list_name;
}

static zt__track *zt__find_track(zt__trace *trace, const zt__missing *missing) {
    uint32_t i = 0;
    while (i < trace->track_count && !zt__is_track_of(&trace->tracks[i], missing->list, missing->list_name)) {
        i++;
    }
    return i < trace->track_count ? &trace->tracks[i] : NULL;
}

/* For qsort: orders lists by their first span. The tracks of a list stay as they were found, by overlap. */
static int zt__compare_tracks(const void *a, const void *b) {
    const zt__track *one = *(const zt__track *const *)a, *other = *(const zt__track *const *)b;
    if (one->first_ns != other->first_ns) {
        return one->first_ns < other->first_ns ? -1 : 1;
    }
    return one < other ? -1 : one > other;
}

/* Distributes the spans to tracks, and numbers the tracks. A span is added to the first track of its list on
   which it overlaps no span without being inside it, or to a new track. Returns 0 without memory. */
static int zt__make_tracks(zt__trace *trace) {
    const zt_allocator *allocator = &trace->profiler->config.allocator;
    size_t room = (size_t)trace->span_count + trace->missing_count + 1;
    zt__track **order = (zt__track **)zt__allocate(allocator, room, sizeof *order);
    uint32_t i, k, lists = 0, first = 0; /* the first track of a list */
    zt__track *track;
    trace->tracks = (zt__track *)zt__allocate(allocator, room, sizeof *trace->tracks);
    if (!order || !trace->tracks) {
        zt__free(allocator, (void *)order);
        return 0;
    }
    for (i = 0; i < trace->span_count; i++) {
        zt__span *span = &trace->spans[i];
        const zt__timeline_sample *sample = &span->sample;
        if (first < trace->track_count &&
            !zt__is_track_of(&trace->tracks[first], sample->list, sample->origin.list_name)) {
            first = trace->track_count;
        }
        span->outer = UINT32_MAX;
        for (k = first; k < trace->track_count; k++) {
            uint32_t outer = trace->tracks[k].last;
            while (outer != UINT32_MAX && trace->spans[outer].sample.end_ns <= sample->begin_ns) {
                outer = trace->spans[outer].outer;
            }
            if (outer == UINT32_MAX || trace->spans[outer].sample.end_ns >= sample->end_ns) {
                span->outer = outer;
                break;
            }
        }
        track = &trace->tracks[k];
        if (k == trace->track_count) {
            trace->track_count++;
            track->list = sample->list;
            track->list_name = sample->origin.list_name;
            track->first_ns = k == first ? sample->begin_ns : trace->tracks[first].first_ns;
            track->overlap = k - first;
        }
        track->last = i;
        span->track = k;
    }
    for (i = 0; i < trace->missing_count; i++) {
        const zt__missing *missing = &trace->missing[i];
        if (missing->list && !zt__find_track(trace, missing)) {
            track = &trace->tracks[trace->track_count++];
            track->list = missing->list;
            track->list_name = missing->list_name;
            track->first_ns = missing->since_ns;
        }
    }
    for (i = 0; i < trace->track_count; i++) {
        order[i] = &trace->tracks[i];
    }
    if (trace->track_count) {
        qsort((void *)order, trace->track_count, sizeof *order, zt__compare_tracks);
    }
    for (i = 0; i < trace->track_count; i++) {
        lists += order[i]->overlap == 0;
        order[i]->number = trace->phases.track_count + i + 1;
        order[i]->list_number = lists;
    }
    zt__free(allocator, (void *)order);
    return 1;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

/* Writes the begin of an instant, up to its arguments. On track 0, it is one of the whole device. */
static void zt__begin_instant(zt__trace *trace, const char *name, const char *category, uint32_t track,
                              uint64_t ns) {
    zt__begin_event(trace->writer, "i", name, trace->device, track);
    zt__write_event_time(trace->writer, "ts", ns);
    zt__print(trace->writer, ",\"s\":\"%s\",\"cat\":\"%s\",\"args\":{", track ? "t" : "p", category);
}

/* Writes an instant: how many of something are not shown as they are, and what to do. */
static void zt__write_remark(zt__trace *trace, const char *name, const char *category, uint32_t track,
                             uint64_t ns, const char *what, uint64_t count, const char *remedy) {
    zt__begin_instant(trace, name, category, track, ns);
    zt__write_json_count(trace->writer, what, count);
    zt__write_json_text(trace->writer, "remedy", remedy);
    zt__write_text(trace->writer, "}}");
}

/* ---- the program ----------------------------------------------------------------------------------------- */

/* For qsort: orders by thread and begin, with outer slices before inner ones. */
static int zt__compare_slices(const void *a, const void *b) {
    const zt__host_slice *one = (const zt__host_slice *)a, *other = (const zt__host_slice *)b;
    if (one->thread != other->thread) {
        return one->thread < other->thread ? -1 : 1;
    }
    if (one->begin_ns != other->begin_ns) {
        return one->begin_ns < other->begin_ns ? -1 : 1;
    }
    if (one->end_ns != other->end_ns) {
        return one->end_ns > other->end_ns ? -1 : 1;
    }
    if (one->kind != other->kind || one->kind != ZT__SLICE_PHASE) {
        return one->kind < other->kind ? -1 : one->kind > other->kind;
    }
    return one->kept > other->kept ? -1 : one->kept < other->kept; /* inner phases end first */
}

/* For bsearch: whether an execution began at a time. */
static int zt__compare_begin(const void *key, const void *element) {
    uint64_t begin_ns = *(const uint64_t *)key;
    const zt__execution *execution = (const zt__execution *)element;
    return begin_ns < execution->begin_ns ? -1 : begin_ns > execution->begin_ns;
}

/* Finds what the threads of the program have done, a track for each thread. Returns 0 without memory. */
static int zt__make_slices(zt__trace *trace) {
    const zt_allocator *allocator = &trace->profiler->config.allocator;
    uint64_t first = 0, end = 0, now;
    uint32_t i, count = 0, outer = UINT32_MAX;
#ifdef ZETOOLS_TRACER
    zt__get_kept_calls(trace->profiler, &first, &end);
#endif
    trace->slices = (zt__host_slice *)zt__allocate(
        allocator, trace->span_count + (size_t)trace->phases.count + (size_t)(end - first) + 1,
        sizeof *trace->slices);
    if (!trace->slices) {
        return 0;
    }
    for (i = 0; i < trace->span_count; i++) {
        const zt__timeline_sample *sample = &trace->spans[i].sample;
        zt__host_slice *slice = &trace->slices[trace->slice_count];
        if (!sample->origin.submitted_by) {
            continue;
        }
        trace->slice_count++;
        slice->thread = sample->origin.submitted_by;
        slice->begin_ns = sample->submitted_ns;
        slice->regions = 1;
        if (sample->origin.executions) {
            const zt__execution *execution =
                (const zt__execution *)bsearch(&slice->begin_ns, trace->executions, trace->execution_count,
                                               sizeof *execution, zt__compare_begin);
            slice->kind = ZT__SLICE_EXECUTE;
            slice->end_ns = slice->begin_ns + 1; /* if it is not known, so that a flow can begin in it */
            if (execution && execution->thread == slice->thread && execution->end_ns > slice->begin_ns) {
                slice->end_ns = execution->end_ns;
            }
        } else {
            slice->kind = ZT__SLICE_APPEND;
            slice->end_ns = slice->begin_ns + sample->origin.append_ns;
            slice->name = zt__record_at(trace->profiler, sample->region)->name;
        }
    }
#ifdef ZETOOLS_TRACER
    for (; first < end; first++) {
        zt__host_slice *slice = &trace->slices[trace->slice_count];
        zt__kept_call call;
        if (zt__copy_kept_call(trace->profiler, first, &call)) {
            slice->name = call.name;
            slice->begin_ns = call.begin_ns;
            slice->end_ns = call.end_ns;
            slice->thread = call.thread;
            slice->kind = ZT__SLICE_CALL;
            trace->slice_count++;
        }
    }
#endif
    now = zt__now_ns(); /* all that is shown has ended before */
    for (i = 0; i < trace->phases.count; i++) {
        const zt__traced_phase *phase = &trace->phases.phases[i];
        zt__host_slice *slice = &trace->slices[trace->slice_count++];
        slice->kind = ZT__SLICE_PHASE;
        slice->phase = i;
        slice->kept = phase->kept;
        slice->name = phase->name;
        slice->begin_ns = phase->span.begin_ns;
        slice->end_ns = phase->is_open ? now : phase->span.end_ns;
        slice->thread = phase->span.thread;
    }
    if (trace->slice_count) {
        qsort(trace->slices, trace->slice_count, sizeof *trace->slices, zt__compare_slices);
    }

    /* Those that stand for one call become one: it has executed several regions, or what it has appended has
       run several times. One that would end after another that contains its begin is shortened, unless it is a phase:
       then the other ends where the phase begins. Regions of a thread may overlap, and slices of a track must not. */
    for (i = 0; i < trace->slice_count; i++) {
        zt__host_slice slice = trace->slices[i];
        zt__host_slice *before = count ? &trace->slices[count - 1] : NULL;
        if (before && before->thread != slice.thread) {
            before = NULL;
            outer = UINT32_MAX;
        }
        if (before && (slice.kind == ZT__SLICE_EXECUTE || slice.kind == ZT__SLICE_APPEND) &&
            before->kind == slice.kind && before->begin_ns == slice.begin_ns && before->name == slice.name) {
            before->regions++;
            continue;
        }
        while (outer != UINT32_MAX &&
               (trace->slices[outer].end_ns <= slice.begin_ns ||
                (slice.kind == ZT__SLICE_PHASE && trace->slices[outer].kind != ZT__SLICE_PHASE &&
                 trace->slices[outer].end_ns < slice.end_ns))) {
            zt__host_slice *ended = &trace->slices[outer];
            ended->end_ns = ended->end_ns < slice.begin_ns ? ended->end_ns : slice.begin_ns;
            outer = ended->outer;
        }
        if (outer != UINT32_MAX && slice.end_ns > trace->slices[outer].end_ns) {
            slice.end_ns = trace->slices[outer].end_ns;
        }
        slice.outer = outer;
        trace->slices[count] = slice;
        outer = count++;
    }
    trace->slice_count = count;
    return 1;
}

/* ---- regions --------------------------------------------------------------------------------------------- */

/* Writes a figure of a region. Whole numbers, such as counts, are exact. */
static void zt__write_argument(zt__writer *writer, const char *label, double value) {
    enum { DIGITS = 6 };
    double magnitude = value < 0 ? -value : value;
    zt__write_comma(writer);
    zt__write_json_string(writer, label);
    zt__write_text(writer, ":");
    if (magnitude < 9e15 && (double)(int64_t)value == value) {
        zt__print(writer, "%lld", (long long)value);
    } else {
        zt__write_digits(writer, value, DIGITS);
    }
}

/* Writes three numbers, such as "128 x 8 x 1", if they are known. */
static void zt__write_extent(zt__writer *writer, const char *label, const uint32_t extent[3]) {
    if (extent[0]) {
        zt__write_comma(writer);
        zt__print(writer, "\"%s\":\"%u x %u x %u\"", label, (unsigned)extent[0], (unsigned)extent[1],
                  (unsigned)extent[2]);
    }
}

/* Writes what the device has done: the names of tracks, the regions on them, each with the flow that leads to it
   from the call that has submitted it, and what is missing there at the time when it was submitted. What is not
   known of a region is left out. */
static void zt__write_device(zt__trace *trace) {
    zt__writer *writer = trace->writer;
    uint64_t first_ns = UINT64_MAX;
    char name[256];
    uint32_t i, k;
    zt__write_name(trace->writer, "process_name", trace->device, 0, trace->profiler->device_name);
    zt__write_place(trace->writer, "process_sort_index", trace->device, 0, 1);
    zt__write_phases_of_device(writer, &trace->phases, trace->device, trace->span_count + 1);
    for (i = 0; i < trace->track_count; i++) {
        const zt__track *track = &trace->tracks[i];
        snprintf(name, sizeof name, "list %u", (unsigned)track->list_number);
        zt__begin_event(writer, "M", "thread_name", trace->device, track->number);
        zt__write_text(writer, ",\"args\":{\"name\":\"");
        zt__write_json_characters(writer, track->list_name ? track->list_name : name);
        if (track->overlap) {
            zt__print(writer, ", overlap %u", (unsigned)track->overlap);
        }
        zt__write_text(writer, "\"}}");
        zt__write_place(trace->writer, "thread_sort_index", trace->device, track->number, track->number);
    }
    for (i = 0; i < trace->span_count; i++) {
        const zt__span *span = &trace->spans[i];
        const zt__timeline_sample *sample = &span->sample;
        const zt__origin *origin = &sample->origin;
        uint32_t track = trace->tracks[span->track].number;
        double error_ns;
        zt__lock(&trace->profiler->mutex);
        error_ns = zt__path_at(trace->profiler, sample->path)->launch_error_ns;
        zt__unlock(&trace->profiler->mutex);
        first_ns = sample->begin_ns < first_ns ? sample->begin_ns : first_ns;
        zt__begin_event(writer, "X", zt__record_at(trace->profiler, sample->region)->name, trace->device,
                        track);
        zt__write_event_time(writer, "ts", sample->begin_ns);
        zt__write_event_time(writer, "dur", sample->end_ns - sample->begin_ns);
        zt__write_text(writer, ",\"cat\":\"region\",\"args\":{");
        if (zt__is_finite(span->figures[0])) {
            zt__write_argument(writer, "GPU time [ns]", span->figures[0]);
        }
        for (k = 0; k < trace->columns.count; k++) {
            if (zt__is_finite(span->figures[1 + k])) {
                zt__write_argument(writer, trace->columns.columns[k].label.text, span->figures[1 + k]);
            }
        }
        zt__write_extent(writer, "groups", origin->group_count);
        zt__write_extent(writer, "group size", origin->group_size);
        if (!zt__is_nan(span->latencies[ZT__QUEUE_LATENCY])) {
            zt__write_argument(writer, "queue latency [ns]", span->latencies[ZT__QUEUE_LATENCY]);
        }
        if (!zt__is_nan(span->latencies[ZT__LAUNCH_LATENCY]) &&
            span->latencies[ZT__LAUNCH_LATENCY] > error_ns) {
            zt__write_argument(writer, "launch latency [ns]", span->latencies[ZT__LAUNCH_LATENCY]);
        }
        if (sample->bytes) {
            zt__write_argument(writer, "bytes", (double)sample->bytes);
        }
        if (sample->bytes && zt__is_positive(span->figures[0])) {
            zt__write_argument(writer, "GB/s", (double)sample->bytes / span->figures[0]);
        }
        if (origin->appended_by) {
            zt__print(writer, ",\"appended by thread\":%u", (unsigned)origin->appended_by);
        }
        zt__write_text(writer, "}}");
        if (origin->submitted_by) {
            zt__write_flow(writer, "s", trace->program, origin->submitted_by, sample->submitted_ns, i + 1);
            zt__write_flow(writer, "f", trace->device, track, sample->begin_ns, i + 1);
        }
    }
    for (i = 0; i < trace->missing_count; i++) {
        char *demangled = NULL;
        const zt__missing *missing = &trace->missing[i];
        const zt__track *track = missing->list ? zt__find_track(trace, missing) : NULL;
        int is_uncertain = missing->cause == ZT_CAUSE_COUNT;
        snprintf(name, sizeof name, "%s: %.200s",
                 is_uncertain                           ? "uncertain time"
                 : missing->cause < ZT_DROPPED_NO_PROBE ? "lost"
                                                        : "dropped",
                 missing->region ? zt__show_name(missing->region->name, &demangled) : "a region");
        free(demangled);
        zt__begin_instant(trace, name, "missing", track ? track->number : 0, missing->since_ns);
        zt__write_json_text(writer, "cause",
                            is_uncertain ? "the device's clock overflowed" : zt__cause_name(missing->cause));
        zt__write_json_count(writer, "samples", missing->count);
        zt__write_text(writer, "}}");
    }
    if (trace->replaced && trace->span_count) {
        zt__write_remark(trace, "earlier samples are not kept", "missing", 0, first_ns, "samples",
                         trace->replaced, "raise config.timeline");
    }
}

/* ---- streams --------------------------------------------------------------------------------------------- */

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
        uint64_t until = rows->end - next > ZT__COPIED_AT_ONCE ? next + ZT__COPIED_AT_ONCE : rows->end;
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

/* Goes through the rows, and writes or, without a trace, counts the values that differ from the one before.
   Values are rounded by less than 0.025 %, more than which no track shows. Those that are rounded differently
   differ in the first ZT__COUNTER_DIGITS digits. Their bits are compared, which tell NaN apart in any mode of
   a compiler. */
static uint32_t zt__write_changes(zt__trace *trace, zt__traced_rows *rows) {
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
            if (trace) {
                memcpy(&value, &rounded, sizeof value);
                zt__write_counter(trace->writer, trace->device, rows->columns.columns[c].label.text,
                                  is_end ? row->end_ns : row->begin_ns, value);
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

/* Reads an attached stream, and writes it: a track with its gaps and markers, and a counter for each chosen
   metric. `most` is how many values these may have. Returns 0 without memory. */
static int zt__write_stream(zt__trace *trace, zt__stream_data *data, int several, uint32_t most,
                            uint32_t track) {
    const zt_allocator *allocator = &trace->profiler->config.allocator;
    zt__writer *writer = trace->writer;
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
        has_memory = zt__choose_trace_columns(trace->profiler, data->metrics, metrics, &table, 1, several,
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

    if (rows.count > 0) {
        snprintf(name, sizeof name, "stream %s", data->group.properties.name);
        zt__write_name(trace->writer, "thread_name", trace->device, track, name);
        zt__write_place(trace->writer, "thread_sort_index", trace->device, track, track);
    }
    if (rows.count > 0 && rows.first > 0) {
        zt__write_remark(trace, "earlier rows are not kept", "missing", track, rows.rows[0].begin_ns, "rows",
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
            zt__begin_event(writer, "X", "gap", trace->device, track);
            zt__write_event_time(writer, "ts", begin_ns);
            zt__write_event_time(writer, "dur", end_ns - begin_ns);
            zt__write_text(writer, ",\"cat\":\"missing\",\"args\":{");
            if (periods > 1) {
                zt__write_json_count(writer, "missing rows, about", periods - 1);
            }
            zt__write_text(writer, "}}");
        } else if (row->gap) {
            zt__begin_instant(trace, "gap before this", "missing", track, row->begin_ns);
            zt__write_text(writer, "}}");
        }
        if (row->marker) {
            zt__begin_instant(trace, row->marker, "marker", track, row->end_ns);
            zt__write_text(writer, "}}");
        }
    }
    before = UINT32_MAX;
    while (rows.count > 1 && rows.count < before && zt__write_changes(NULL, &rows) > most) {
        before = rows.count; /* it stays if there is a gap before each row */
        zt__merge_rows(&rows);
        merged *= rows.count < before ? 2 : 1;
    }
    if (merged > 1) {
        zt__write_remark(trace, "values are means of several rows", "merged", track, rows.rows[0].begin_ns,
                         "rows", merged, "choose fewer metrics with config.columns or ZT_COLUMNS");
    }
    if (rows.count > 0) {
        zt__write_changes(trace, &rows);
    }
    zt__free(allocator, rows.means);
    zt__free(allocator, rows.counts);
    zt__free(allocator, rows.rows);
    zt__free(allocator, rows.figures);
    zt__free(allocator, rows.last);
    zt__free(allocator, rows.columns.columns);
    return has_memory;
}

/* ---- the trace ------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__write_trace(zt__document *document) {
    zt_profiler *profiler = document->profiler;
    zt__writer *writer = &document->writer;
    const zt_allocator *allocator = &profiler->config.allocator;
    zt_counts counts = zt__get_counts(profiler);
    zt__stream_data *data = NULL;
    zt__trace trace;
    const char *program = profiler->facts.program;
    size_t begin, end;
    char name[256];
    int has_memory;
    uint32_t streams = 0, track, i;
    memset(&trace, 0, sizeof trace);
    trace.profiler = profiler;
    trace.writer = writer;
    trace.program = zt__get_process_id();
    trace.device = trace.program + (1 + (long)(profiler->id % ZT__MAX_PROFILERS)) * ZT__SYSTEM_NUMBERS;
    zt__relate_clocks(profiler, 1);
    has_memory = zt__copy_timeline(&trace) && zt__make_phases(&trace) && zt__make_tracks(&trace) &&
                 zt__make_slices(&trace);
    zt__write_text(writer, "{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    zt__write_json_text(writer, "zetools", ZETOOLS_VERSION);
    zt__write_json_text(writer, "clock", "CLOCK_MONOTONIC");
    zt__write_json_text(writer, "program", profiler->facts.program);
    zt__write_json_text(writer, "device", profiler->device_name);
    zt__write_json_counts(writer, &counts);
    zt__write_json_own_time(writer, profiler);
    zt__write_text(writer, "},\n\"traceEvents\":[");

    /* The program is named by the file that it was started from, and a thread as the system names it, if it
       still runs. */
    program += *program == '"';
    end = strcspn(program, program > profiler->facts.program ? "\"" : " ");
    for (begin = end; begin > 0 && !zt__is_separator(program[begin - 1]);) {
        begin--;
    }
    zt__copy_text(name, sizeof name, program + begin, end - begin);
    if (has_memory) {
        zt__write_name(writer, "process_name", trace.program, 0, name[0] ? name : "program");
        zt__write_place(writer, "process_sort_index", trace.program, 0, 0);
    }
    for (i = 0; i < trace.slice_count; i++) { /* without memory there are none */
        const zt__host_slice *slice = &trace.slices[i];
        char *demangled;
        if (i == 0 || trace.slices[i - 1].thread != slice->thread) {
            zt__read_thread_name(slice->thread, name, sizeof name);
            zt__write_name(writer, "thread_name", trace.program, slice->thread, name[0] ? name : "thread");
        }
        snprintf(name, sizeof name, "append %.240s",
                 zt__show_name(slice->name ? slice->name : "", &demangled));
        free(demangled);
        zt__begin_event(writer, "X",
                        slice->kind == ZT__SLICE_APPEND    ? name
                        : slice->kind == ZT__SLICE_EXECUTE ? "execute lists"
                                                           : slice->name,
                        trace.program, slice->thread);
        zt__write_event_time(writer, "ts", slice->begin_ns);
        zt__write_event_time(writer, "dur", slice->end_ns - slice->begin_ns);
        zt__print(writer, ",\"cat\":\"%s\"",
                  slice->kind == ZT__SLICE_CALL    ? "call"
                  : slice->kind == ZT__SLICE_PHASE ? "phase"
                                                   : "submit");
        if (slice->kind == ZT__SLICE_EXECUTE) {
            zt__print(writer, ",\"args\":{\"regions\":%u}", (unsigned)slice->regions);
        }
        if (slice->kind == ZT__SLICE_PHASE && trace.phases.phases[slice->phase].is_open) {
            zt__write_text(writer, ",\"args\":{\"open\":true}");
        }
        zt__write_text(writer, "}");
        if (slice->kind == ZT__SLICE_PHASE && trace.phases.phases[slice->phase].samples > 0) {
            zt__write_flow(writer, "s", trace.program, slice->thread, slice->begin_ns,
                           trace.span_count + slice->phase + 1);
        }
    }
    if (has_memory) {
        zt__write_device(&trace);
        zt__write_power(trace.profiler, trace.writer, trace.device);
    }
#ifdef ZETOOLS_TRACER
    zt__write_memory_counters(trace.profiler, trace.writer, trace.device);
#endif
    while ((data = zt__next_attached_stream(profiler, data)) != NULL) {
        streams++;
    }
    track = trace.phases.track_count + trace.track_count;
    while (has_memory && (data = zt__next_attached_stream(profiler, data)) != NULL) {
        has_memory = zt__write_stream(&trace, data, streams > 1, ZT__COUNTER_EVENTS / (streams ? streams : 1),
                                      ++track);
    }
    zt__write_text(writer, "\n]}\n");
    zt__free(allocator, trace.columns.columns);
    zt__free(allocator, trace.spans);
    zt__free(allocator, trace.figures);
    zt__free(allocator, trace.missing);
    zt__free(allocator, trace.executions);
    zt__free_phases(profiler, &trace.phases);
    zt__free(allocator, trace.tracks);
    zt__free(allocator, trace.slices);
    document->out_of_memory = !has_memory;
}
