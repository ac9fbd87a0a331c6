/* run.trace.json and run.pftrace: the timeline for Chrome and Perfetto. */

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
#include "regions/reporting.h"
#include "reports/facts.h"
#include "reports/perfetto.h"
#include "reports/trace_columns.h"
#include "reports/trace_counters.h"
#include "reports/trace_events.h"
#include "reports/trace_phases.h"
#include "reports/trace_sink.h"
#include "reports/trace_streams.h"
#include "results/results.h"
#include "results/timeline.h"
#include "tracer/results.h"

/* A trace has a process for the program, with a track for each thread that has begun regions, executed lists, made timed
   calls or begun phases, and one for each device, with tracks for phases, for each command list and each attached stream,
   and with counters. Flow events lead from the first to the others. */

enum {
    ZT__COPIED_AT_ONCE = 1024 /* while a mutex is locked */
};

/* A sample by host time. */
typedef struct zt__span {
    zt__timeline_sample sample;
    uint64_t order;        /* index in the timeline */
    const double *figures; /* GPU time, and the chosen columns */
    double latencies[ZT__LATENCY_COUNT];
    uint32_t device; /* its number, from 1 */
    uint32_t track;
    uint32_t outer; /* the span that contains it on its track, or UINT32_MAX */
    uint32_t next;  /* that the same call has submitted, or UINT32_MAX */
} zt__span;

/* A track of a command list. Its spans are nested or disjoint. */
typedef struct zt__track {
    uint32_t device; /* its number, from 1 */
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
    uint32_t regions;               /* that were executed */
    uint32_t first_span, last_span; /* of those that the call has submitted */
    uint32_t phase;                 /* index among the phases of the trace */
    uint64_t kept;                  /* of a phase as in zt__traced_phase */
    uint32_t outer;                 /* the slice that contains it, or UINT32_MAX */
} zt__host_slice;

typedef struct zt__trace {
    zt_profiler *profiler;
    zt__trace_sink sink;
    zt__trace_columns columns;
    zt__span *spans;    /* sorted by list, then by time */
    zt__span **by_time; /* the same */
    double *figures;    /* of each span */
    uint32_t span_count;
    zt__missing *missing;
    uint32_t missing_count;
    uint32_t device_count;
    zt__traced_phases *phases; /* with what ran on each device */
    zt__track *tracks;
    uint32_t track_count;
    zt__execution *executions; /* sorted */
    uint32_t execution_count;
    zt__host_slice *slices; /* sorted by thread, then by time */
    uint32_t slice_count;
    uint64_t replaced; /* samples that newer ones have replaced */
} zt__trace;

/* ---- reading the timeline -------------------------------------------------------------------------------- */

/* Orders by begin, with outer spans before inner ones. */
static int zt__compare_times(const zt__span *one, const zt__span *other) {
    if (one->sample.begin_ns != other->sample.begin_ns) {
        return one->sample.begin_ns < other->sample.begin_ns ? -1 : 1;
    }
    if (one->sample.end_ns != other->sample.end_ns) {
        return one->sample.end_ns > other->sample.end_ns ? -1 : 1;
    }
    return one->order > other->order ? -1 : one->order < other->order; /* inner regions end first */
}

/* For qsort of pointers. */
static int zt__compare_spans_by_time(const void *a, const void *b) {
    return zt__compare_times(*(const zt__span *const *)a, *(const zt__span *const *)b);
}

/* For qsort: orders by device and list, then by time. */
static int zt__compare_spans(const void *a, const void *b) {
    const zt__span *one = (const zt__span *)a, *other = (const zt__span *)b;
    if (one->device != other->device) {
        return one->device < other->device ? -1 : 1;
    }
    if (one->sample.list != other->sample.list) {
        return (uintptr_t)one->sample.list < (uintptr_t)other->sample.list ? -1 : 1;
    }
    if (one->sample.origin.list_name != other->sample.origin.list_name) {
        return (uintptr_t)one->sample.origin.list_name < (uintptr_t)other->sample.origin.list_name ? -1 : 1;
    }
    return zt__compare_times(one, other);
}

/* Returns the number of the device of a path, from 1. NULL: of the first. */
static uint32_t zt__device_of(const zt__path *path) {
    return path && path->device ? path->device : 1;
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
    trace->replaced = zt__get_kept_samples(profiler, &first, &end);
    room = (size_t)(end - first) + 1;
    width = 1 + (size_t)trace->columns.count;
    trace->spans = (zt__span *)zt__allocate(allocator, room, sizeof *trace->spans);
    trace->by_time = (zt__span **)zt__allocate(allocator, room, sizeof *trace->by_time);
    trace->figures = (double *)zt__allocate(allocator, room, width * sizeof *trace->figures);
    trace->missing = (zt__missing *)zt__allocate(allocator, ZT__MISSING_KEPT, sizeof *trace->missing);
    trace->executions =
        (zt__execution *)zt__allocate(allocator, (size_t)capacity + 1, sizeof *trace->executions);
    has_memory =
        has_memory && trace->spans && trace->by_time && trace->figures && trace->missing && trace->executions;
    for (i = first; i < end && has_memory; i++) {
        zt__span *span = &trace->spans[trace->span_count];
        if (zt__copy_kept_sample(profiler, i, &span->sample, values)) {
            double *figures = trace->figures + trace->span_count * width;
            span->order = i;
            span->device = zt__device_of(zt__path_at(profiler, span->sample.path));
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
        for (i = 0; i < trace->span_count; i++) {
            trace->by_time[i] = &trace->spans[i];
        }
        qsort((void *)trace->by_time, trace->span_count, sizeof *trace->by_time, zt__compare_spans_by_time);
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

/* Copies the phases for each device, with the time that what was submitted in each took there. Returns 0 without
   memory. */
static int zt__make_phases(zt__trace *trace) {
    uint32_t i, d;
    trace->phases = (zt__traced_phases *)zt__allocate(&trace->profiler->config.allocator, trace->device_count,
                                                      sizeof *trace->phases);
    if (!trace->phases) {
        return 0;
    }
    for (d = 0; d < trace->device_count; d++) {
        zt__traced_phases *phases = &trace->phases[d];
        if (!zt__copy_phases(trace->profiler, phases)) {
            return 0;
        }
        for (i = 0; i < trace->span_count; i++) {
            const zt__timeline_sample *sample = &trace->spans[i].sample;
            if (trace->spans[i].device == d + 1) {
                zt__add_to_phase(phases, sample->origin.entry, sample->begin_ns, sample->end_ns);
            }
        }
        if (!zt__place_phases(trace->profiler, phases)) {
            return 0;
        }
    }
    return 1;
}

/* ---- tracks of lists ------------------------------------------------------------------------------------- */

static int zt__is_track_of(const zt__track *track, uint32_t device, ze_command_list_handle_t list,
                           const char *list_name) {
    return track->device == device && track->list == list && track->list_name == list_name;
}

static zt__track *zt__find_track(zt__trace *trace, const zt__missing *missing) {
    uint32_t i = 0;
    while (i < trace->track_count && !zt__is_track_of(&trace->tracks[i], zt__device_of(missing->path),
                                                      missing->list, missing->list_name)) {
        i++;
    }
    return i < trace->track_count ? &trace->tracks[i] : NULL;
}

/* For qsort: orders lists by device and their first span. The tracks of a list stay as they were found, by overlap. */
static int zt__compare_tracks(const void *a, const void *b) {
    const zt__track *one = *(const zt__track *const *)a, *other = *(const zt__track *const *)b;
    if (one->device != other->device) {
        return one->device < other->device ? -1 : 1;
    }
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
            !zt__is_track_of(&trace->tracks[first], span->device, sample->list, sample->origin.list_name)) {
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
            track->device = span->device;
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
            track->device = zt__device_of(missing->path);
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
        int is_first = i == 0 || order[i - 1]->device != order[i]->device;
        lists = (is_first ? 0 : lists) + (order[i]->overlap == 0);
        order[i]->number =
            1 + (is_first ? trace->phases[order[i]->device - 1].track_count : order[i - 1]->number);
        order[i]->list_number = lists;
    }
    zt__free(allocator, (void *)order);
    return 1;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static zt__trace_track zt__device_track(uint32_t device, uint32_t number) {
    zt__trace_track track;
    track.device = device;
    track.number = number;
    return track;
}

static zt__trace_track zt__thread_track(uint32_t thread) {
    zt__trace_track track;
    track.device = 0;
    track.number = thread;
    return track;
}

static void zt__begin_trace_event(zt__trace *trace, zt__trace_kind kind, const char *name,
                                  const char *category, zt__trace_track track, uint64_t begin_ns,
                                  uint64_t end_ns, const zt__span *span) {
    zt__trace_event event;
    event.kind = kind;
    event.name = name;
    event.category = category;
    event.track = track;
    event.begin_ns = begin_ns;
    event.end_ns = end_ns;
    event.id = span ? (uint32_t)(span - trace->spans) + 1 : 0;
    event.origin = span ? &span->sample.origin : NULL;
    trace->sink.format->begin_event(&trace->sink, &event);
}

/* Returns the number of the flow to the first phase on a device. The flows to regions come before. */
static uint32_t zt__flow_to_phases(const zt__trace *trace, uint32_t device) {
    return trace->span_count + 1 + (device - 1) * trace->phases[0].count;
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
        allocator, trace->span_count + (size_t)trace->phases[0].count + (size_t)(end - first) + 1,
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
        slice->first_span = slice->last_span = i;
        trace->spans[i].next = UINT32_MAX;
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
    for (i = 0; i < trace->phases[0].count; i++) {
        const zt__traced_phase *phase = &trace->phases[0].phases[i];
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
            trace->spans[before->last_span].next = slice.first_span;
            before->last_span = slice.first_span;
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

/* Returns the name of a track of a list. It is in `text`, unless the list has just that name. */
static const char *zt__name_list_track(const zt__track *track, char *text, size_t room) {
    if (track->list_name && !track->overlap) {
        return track->list_name;
    }
    if (track->list_name) {
        snprintf(text, room, "%.200s", track->list_name);
    } else {
        snprintf(text, room, "list %u", (unsigned)track->list_number);
    }
    if (track->overlap) {
        zt__append(text, room, ", overlap %u", (unsigned)track->overlap);
    }
    return text;
}

/* Writes the metrics of a region as the values of counters from its begin on. */
static void zt__count_region(zt__trace *trace, const zt__span *span) {
    uint32_t i;
    for (i = 0; i < trace->columns.count; i++) {
        if (zt__is_finite(span->figures[1 + i])) {
            trace->sink.format->write_counter(&trace->sink, i, span->sample.begin_ns, span->figures[1 + i],
                                              ZT__COUNTER_DIGITS);
        }
    }
}

/* Writes that no region runs from a time on. Sums stay those of the region that began last. */
static void zt__count_pause(zt__trace *trace, uint64_t ns) {
    uint32_t i;
    for (i = 0; i < trace->columns.count; i++) {
        if (trace->columns.columns[i].has_moments) {
            trace->sink.format->write_counter(&trace->sink, i, ns, 0, ZT__COUNTER_DIGITS);
        }
    }
}

/* Writes a region with the flow that leads to it from the call that has submitted it. What is not known of it is left
   out. */
static void zt__write_region(zt__trace *trace, const zt__span *span) {
    const zt__trace_format *format = trace->sink.format;
    zt__trace_sink *sink = &trace->sink;
    const zt__timeline_sample *sample = &span->sample;
    uint32_t i;
    double error_ns;
    zt__lock(&trace->profiler->mutex);
    error_ns = zt__path_at(trace->profiler, sample->path)->launch_error_ns;
    zt__unlock(&trace->profiler->mutex);
    zt__begin_trace_event(trace, ZT__TRACE_REGION, zt__record_at(trace->profiler, sample->region)->name,
                          "region", zt__device_track(span->device, trace->tracks[span->track].number),
                          sample->begin_ns, sample->end_ns, span);
    if (zt__is_finite(span->figures[0])) {
        format->add_number(sink, "GPU time [ns]", span->figures[0]);
    }
    for (i = 0; i < trace->columns.count && !format->counts_regions; i++) {
        if (zt__is_finite(span->figures[1 + i])) {
            format->add_number(sink, trace->columns.columns[i].label.text, span->figures[1 + i]);
        }
    }
    if (!zt__is_nan(span->latencies[ZT__QUEUE_LATENCY])) {
        format->add_number(sink, "queue latency [ns]", span->latencies[ZT__QUEUE_LATENCY]);
    }
    if (!zt__is_nan(span->latencies[ZT__LAUNCH_LATENCY]) && span->latencies[ZT__LAUNCH_LATENCY] > error_ns) {
        format->add_number(sink, "launch latency [ns]", span->latencies[ZT__LAUNCH_LATENCY]);
    }
    if (sample->bytes) {
        format->add_number(sink, "bytes", (double)sample->bytes);
    }
    if (sample->bytes && zt__is_positive(span->figures[0])) {
        format->add_number(sink, "GB/s", (double)sample->bytes / span->figures[0]);
    }
    if (sample->origin.appended_by) {
        format->add_number(sink, "appended by thread", sample->origin.appended_by);
    }
    if (sample->origin.submitted_by) {
        format->end_flow(sink, sink->event.id);
    }
    format->end_event(sink);
}

/* Writes the regions of a device in the order of their begins. */
static void zt__write_regions(zt__trace *trace, uint32_t device) {
    const zt__trace_format *format = trace->sink.format;
    int has_counters = format->counts_regions && trace->columns.count > 0, is_first = 1;
    uint64_t end_ns = 0; /* the last so far */
    char name[256];
    uint32_t i;
    format->begin_sequence(&trace->sink, zt__device_track(device, 0));
    for (i = 0; i < trace->track_count; i++) {
        const zt__track *track = &trace->tracks[i];
        if (track->device == device) {
            format->begin_queue(&trace->sink, zt__device_track(device, track->number),
                                zt__name_list_track(track, name, sizeof name));
        }
    }
    if (has_counters) {
        zt__declare_columns(&trace->sink, "regions", "region ", &trace->columns);
    }
    for (i = 0; i < trace->span_count; i++) {
        const zt__span *span = trace->by_time[i];
        if (span->device != device) {
            continue;
        }
        if (has_counters && !is_first && span->sample.begin_ns > end_ns) {
            zt__count_pause(trace, end_ns);
        }
        zt__write_region(trace, span);
        if (has_counters) {
            zt__count_region(trace, span);
        }
        end_ns = span->sample.end_ns > end_ns ? span->sample.end_ns : end_ns;
        is_first = 0;
    }
    if (has_counters && !is_first) {
        zt__count_pause(trace, end_ns);
    }
}

/* Writes what is missing on a device, at the time when it was submitted. */
static void zt__write_missing_samples(zt__trace *trace, uint32_t device) {
    const zt__trace_format *format = trace->sink.format;
    char name[256];
    uint32_t i;
    for (i = 0; i < trace->missing_count; i++) {
        char *demangled = NULL;
        const zt__missing *missing = &trace->missing[i];
        const zt__track *track = missing->list ? zt__find_track(trace, missing) : NULL;
        int is_uncertain = missing->cause == ZT_CAUSE_COUNT;
        if (zt__device_of(missing->path) != device) {
            continue;
        }
        snprintf(name, sizeof name, "%s: %.200s",
                 is_uncertain                           ? "uncertain time"
                 : missing->cause < ZT_DROPPED_NO_PROBE ? "lost"
                                                        : "dropped",
                 missing->region ? zt__show_name(missing->region->name, &demangled) : "a region");
        free(demangled);
        zt__begin_instant(&trace->sink, name, "missing", zt__device_track(device, track ? track->number : 0),
                          missing->since_ns);
        format->add_text(&trace->sink, "cause",
                         is_uncertain ? "the device's clock overflowed" : zt__cause_name(missing->cause));
        format->add_number(&trace->sink, "samples", (double)missing->count);
        format->end_event(&trace->sink);
    }
    if (trace->replaced && trace->span_count && device == 1) {
        zt__write_remark(&trace->sink, "earlier samples are not kept", "missing", zt__device_track(device, 0),
                         trace->by_time[0]->sample.begin_ns, "samples", trace->replaced,
                         "raise config.timeline");
    }
}

/* Writes what a device has done: the names of tracks, phases, the regions, what is missing, power and memory. */
static void zt__write_device(zt__trace *trace, uint32_t device) {
    const zt__joined_device *joined =
        trace->profiler->joined ? &trace->profiler->joined->devices[device - 1] : NULL;
    zt_profiler *reader = joined ? joined->power : trace->profiler;
#ifdef ZETOOLS_TRACER
    zt_profiler *watcher = joined ? joined->memory : trace->profiler;
#endif
    const zt__traced_phases *phases = &trace->phases[device - 1];
    char name[256];
    uint32_t i;
    trace->sink.format->name_track(&trace->sink, zt__device_track(device, 0),
                                   joined ? joined->name : trace->profiler->device_name);
    zt__write_phases_of_device(&trace->sink, device, phases, zt__flow_to_phases(trace, device));
    for (i = 0; i < trace->track_count; i++) {
        const zt__track *track = &trace->tracks[i];
        if (track->device == device) {
            trace->sink.format->name_track(&trace->sink, zt__device_track(device, track->number),
                                           zt__name_list_track(track, name, sizeof name));
        }
    }
    zt__write_regions(trace, device);
    zt__write_missing_samples(trace, device);
    if (reader) {
        zt__write_power(&trace->sink, reader, device);
    }
#ifdef ZETOOLS_TRACER
    if (watcher) {
        zt__write_memory_counters(&trace->sink, watcher, device);
    }
#endif
}

/* ---- the trace ------------------------------------------------------------------------------------------- */

/* Names the program by the file that it was started from. */
static void zt__name_program(zt__trace *trace) {
    const char *program = trace->profiler->facts.program;
    size_t begin, end;
    char name[256];
    program += *program == '"';
    end = strcspn(program, program > trace->profiler->facts.program ? "\"" : " ");
    for (begin = end; begin > 0 && !zt__is_separator(program[begin - 1]);) {
        begin--;
    }
    zt__copy_text(name, sizeof name, program + begin, end - begin);
    trace->sink.format->name_track(&trace->sink, zt__thread_track(0), name[0] ? name : "program");
}

/* Writes the begin of a slice, with the flows that lead from it. */
static void zt__begin_slice(zt__trace *trace, const zt__host_slice *slice) {
    static const char *const categories[] = {"phase", "submit", "submit", "call"}; /* by kind */
    const zt__trace_format *format = trace->sink.format;
    const zt__traced_phase *phase =
        slice->kind == ZT__SLICE_PHASE ? &trace->phases[0].phases[slice->phase] : NULL;
    int is_submission = slice->kind == ZT__SLICE_EXECUTE || slice->kind == ZT__SLICE_APPEND;
    const char *name = slice->kind == ZT__SLICE_EXECUTE ? "execute lists" : slice->name;
    char append[256], *demangled;
    uint32_t i;
    if (slice->kind == ZT__SLICE_APPEND) {
        snprintf(append, sizeof append, "append %.240s", zt__show_name(slice->name, &demangled));
        free(demangled);
        name = append;
    }
    zt__begin_trace_event(trace, ZT__TRACE_SLICE, name, categories[slice->kind],
                          zt__thread_track(slice->thread), slice->begin_ns, slice->end_ns, NULL);
    if (slice->kind == ZT__SLICE_EXECUTE) {
        format->add_number(&trace->sink, "regions", slice->regions);
    }
    if (phase && phase->is_open) {
        format->add_flag(&trace->sink, "open");
    }
    for (i = 1; i <= trace->device_count && phase; i++) {
        if (trace->phases[i - 1].phases[slice->phase].samples > 0) {
            format->begin_flow(&trace->sink, zt__flow_to_phases(trace, i) + slice->phase, 0);
        }
    }
    for (i = is_submission ? slice->first_span : UINT32_MAX; i != UINT32_MAX; i = trace->spans[i].next) {
        format->begin_flow(&trace->sink, i + 1, 1);
    }
    format->end_event(&trace->sink);
}

/* Ends the slices that do not contain the one at an index, inner ones first. */
static void zt__end_slices(zt__trace *trace, uint32_t index) {
    int is_of_thread = index < trace->slice_count && index > 0 &&
                       trace->slices[index].thread == trace->slices[index - 1].thread;
    uint32_t outer = is_of_thread ? trace->slices[index].outer : UINT32_MAX, i;
    for (i = index ? index - 1 : UINT32_MAX; i != outer; i = trace->slices[i].outer) {
        trace->sink.format->end_slice(&trace->sink, trace->slices[i].end_ns);
    }
}

/* Writes what the threads of the program have done. A thread is named as the system names it, if it still runs. */
static void zt__write_program(zt__trace *trace) {
    char name[256];
    uint32_t i;
    zt__name_program(trace);
    for (i = 0; i < trace->slice_count; i++) {
        const zt__host_slice *slice = &trace->slices[i];
        zt__trace_track track = zt__thread_track(slice->thread);
        zt__end_slices(trace, i);
        if (i == 0 || trace->slices[i - 1].thread != slice->thread) {
            zt__read_thread_name(slice->thread, name, sizeof name);
            trace->sink.format->name_track(&trace->sink, track, name[0] ? name : "thread");
            trace->sink.format->begin_sequence(&trace->sink, track);
        }
        zt__begin_slice(trace, slice);
    }
    zt__end_slices(trace, trace->slice_count);
}

/* Returns the number of the device whose streams are shown: that of the profiler that reports. */
static uint32_t zt__device_of_streams(const zt_profiler *profiler) {
    return profiler->joined && profiler->joined->first_device < profiler->joined->device_count
               ? profiler->joined->first_device + 1
               : 1;
}

ZT__PRIVATE void zt__write_trace(zt__document *document) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__trace_format *format = document->is_perfetto ? &zt__perfetto_packets : &zt__trace_events;
    zt__stream_data *data = NULL;
    zt__trace trace;
    int has_memory, is_complete;
    uint32_t streams = 0, i;
    zt__trace_track track;
    memset(&trace, 0, sizeof trace);
    trace.profiler = trace.sink.profiler = profiler;
    trace.sink.document = document;
    trace.device_count = zt__count_devices(profiler);
    trace.sink.format = format;
    trace.sink.writer = &document->writer;
    trace.sink.program = zt__get_process_id();
    trace.sink.first_device = profiler->id % ZT__MAX_PROFILERS;
    zt__relate_clocks(profiler, 1);
    has_memory = zt__copy_timeline(&trace) && zt__make_phases(&trace) && zt__make_tracks(&trace) &&
                 zt__make_slices(&trace);
    has_memory = format->begin(&trace.sink) && has_memory;
    if (has_memory) {
        zt__write_program(&trace);
        for (i = 1; i <= trace.device_count; i++) {
            zt__write_device(&trace, i);
        }
    }
    while ((data = zt__next_attached_stream(profiler, data)) != NULL) {
        streams++;
    }
    track = zt__device_track(1, 0);
    if (has_memory && streams > 0) { /* behind the tracks of lists */
        track.device = zt__device_of_streams(profiler);
        track.number = trace.phases[track.device - 1].track_count;
        for (i = 0; i < trace.track_count; i++) {
            track.number += trace.tracks[i].device == track.device;
        }
    }
    while (has_memory && (data = zt__next_attached_stream(profiler, data)) != NULL) {
        track.number++;
        has_memory = zt__write_stream(&trace.sink, data, streams > 1,
                                      ZT__COUNTER_EVENTS / (streams ? streams : 1), track);
    }
    is_complete = format->end(&trace.sink);
    zt__free(allocator, trace.columns.columns);
    zt__free(allocator, trace.spans);
    zt__free(allocator, (void *)trace.by_time);
    zt__free(allocator, trace.figures);
    zt__free(allocator, trace.missing);
    zt__free(allocator, trace.executions);
    for (i = 0; i < trace.device_count && trace.phases; i++) {
        zt__free_phases(profiler, &trace.phases[i]);
    }
    zt__free(allocator, trace.phases);
    zt__free(allocator, trace.tracks);
    zt__free(allocator, trace.slices);
    document->out_of_memory = !has_memory || !is_complete;
}
