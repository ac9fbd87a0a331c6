/* The timeline of a page: what ran on each queue, and the phases that it was submitted in. */

#include "reports/page_timeline.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/writer.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "reports/json.h"
#include "reports/trace_phases.h"
#include "results/results.h"
#include "results/timeline.h"

/* A sample. */
typedef struct zt__page_span {
    uint64_t begin_ns, end_ns; /* host time */
    const void *queue;         /* that ran it or, if it is not known to be on one, its list */
    int is_list;               /* it is the list */
    const char *name;          /* of the list, or NULL */
    uint32_t device;           /* its number; 0: there is one */
    uint32_t region;
    uint32_t entry; /* of a phase, as in zt__origin */
    uint32_t order; /* in which samples were collected */
} zt__page_span;

typedef struct zt__page_spans {
    zt__page_span *spans; /* sorted by queue, then by time */
    uint32_t count;
    uint64_t samples; /* since zt_clear, also those that newer ones have replaced */
    uint64_t begin_ns, end_ns;
} zt__page_spans;

/* For qsort: orders by queue and begin, with outer spans before inner ones. */
static int zt__compare_page_spans(const void *a, const void *b) {
    const zt__page_span *one = (const zt__page_span *)a, *other = (const zt__page_span *)b;
    if (one->device != other->device) {
        return one->device < other->device ? -1 : 1;
    }
    if (one->queue != other->queue) {
        return (uintptr_t)one->queue < (uintptr_t)other->queue ? -1 : 1;
    }
    if (one->name != other->name) {
        return (uintptr_t)one->name < (uintptr_t)other->name ? -1 : 1;
    }
    if (one->begin_ns != other->begin_ns) {
        return one->begin_ns < other->begin_ns ? -1 : 1;
    }
    if (one->end_ns != other->end_ns) {
        return one->end_ns > other->end_ns ? -1 : 1;
    }
    return one->order > other->order ? -1 : one->order < other->order; /* inner regions end first */
}

static void zt__fill_page_span(zt__page_span *span, const zt__timeline_sample *sample) {
    span->begin_ns = sample->begin_ns;
    span->end_ns = sample->end_ns;
    span->is_list = !sample->runs_on;
    span->queue = span->is_list ? sample->list : sample->runs_on;
    span->name = span->is_list ? sample->origin.list_name : NULL;
    span->region = sample->region;
    span->entry = sample->origin.entry;
}

/* Copies the newest samples. Leaves out those of regions that are newer than the report. Returns 0 without memory. */
static int zt__copy_page_spans(zt__document *document, zt__page_spans *spans) {
    enum { MOST_SPANS = 100000 };
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    uint64_t first, end, i;
    zt__timeline_sample sample;
    double *values;
    spans->samples = zt__get_kept_samples(profiler, &first, &end);
    if (first == end) {
        return 1;
    }
    spans->samples += end - first;
    first = end - first > MOST_SPANS ? end - MOST_SPANS : first;
    values = (double *)zt__allocate(allocator, profiler->row_length, sizeof *values);
    spans->spans = (zt__page_span *)zt__allocate(allocator, (size_t)(end - first), sizeof *spans->spans);
    spans->begin_ns = UINT64_MAX;
    for (i = first; i < end && spans->spans && values; i++) {
        zt__page_span *span = &spans->spans[spans->count];
        if (!zt__copy_kept_sample(profiler, i, &sample, values)) {
            continue; /* replaced by a newer one */
        }
        if (sample.region >= document->region_count) {
            spans->samples--;
            continue;
        }
        zt__fill_page_span(span, &sample);
        span->device = zt__path_at(profiler, sample.path)->device;
        span->order = spans->count++;
        spans->begin_ns = span->begin_ns < spans->begin_ns ? span->begin_ns : spans->begin_ns;
        spans->end_ns = span->end_ns > spans->end_ns ? span->end_ns : spans->end_ns;
    }
    zt__free(allocator, values);
    if (spans->count) {
        qsort(spans->spans, spans->count, sizeof *spans->spans, zt__compare_page_spans);
    }
    return spans->spans && values;
}

/* Writes `[region,begin,end]`, in nanoseconds from the begin of the first sample. */
static void zt__write_page_span(zt__writer *writer, const zt__page_spans *spans, uint32_t region,
                                uint64_t begin_ns, uint64_t end_ns) {
    zt__write_comma(writer);
    zt__print(writer, "\n[%u,%llu,%llu]", (unsigned)region, (unsigned long long)(begin_ns - spans->begin_ns),
              (unsigned long long)(end_ns - spans->begin_ns));
}

/* Writes the entries of phases that have samples. Returns 0 without memory. */
static int zt__write_page_phases(zt__document *document, const zt__page_spans *spans) {
    zt_profiler *profiler = document->profiler;
    zt__traced_phases phases;
    uint32_t i;
    int has_memory;
    memset(&phases, 0, sizeof phases);
    has_memory = zt__copy_phases(profiler, &phases);
    for (i = 0; i < spans->count && has_memory; i++) {
        const zt__page_span *span = &spans->spans[i];
        zt__add_to_phase(&phases, span->entry, span->begin_ns, span->end_ns);
    }
    has_memory = has_memory && zt__place_phases(profiler, &phases);
    for (i = 0; i < phases.on_device_count; i++) {
        const zt__traced_phase *phase = phases.on_device[i];
        uint32_t region;
        zt__lock(&profiler->mutex);
        region = zt__path_at(profiler, phase->span.path)->key.region->index;
        zt__unlock(&profiler->mutex);
        if (region < document->region_count) {
            zt__write_page_span(&document->writer, spans, region, phase->begin_ns, phase->end_ns);
        }
    }
    zt__free_phases(profiler, &phases);
    return has_memory;
}

static void zt__write_page_queues(zt__document *document, const zt__page_spans *spans) {
    const zt__joined *joined = document->profiler->joined;
    zt__writer *writer = &document->writer;
    uint32_t i;
    for (i = 0; i < spans->count; i++) {
        const zt__page_span *span = &spans->spans[i];
        const zt__page_span *before = i > 0 ? span - 1 : NULL;
        if (!before || before->device != span->device || before->queue != span->queue ||
            before->name != span->name) {
            zt__write_text(writer, before ? "]},\n{" : "\n{");
            zt__write_json_text(writer, "kind", span->is_list ? "list" : "queue");
            zt__write_json_text(writer, "name", span->name ? span->name : "");
            if (span->device > 0) {
                zt__write_json_text(writer, "device", joined->devices[span->device - 1].name);
            }
            zt__write_text(writer, ",\"spans\":[");
        }
        zt__write_page_span(writer, spans, span->region, span->begin_ns, span->end_ns);
    }
    zt__write_text(writer, "]}");
}

ZT__PRIVATE void zt__write_page_timeline(zt__document *document) {
    zt__writer *writer = &document->writer;
    zt__page_spans spans;
    int has_memory;
    memset(&spans, 0, sizeof spans);
    has_memory = zt__copy_page_spans(document, &spans);
    if (spans.count > 0) {
        zt__write_text(writer, ",\n\"timeline\":{");
        zt__write_json_count(writer, "samples", spans.samples);
        zt__write_json_count(writer, "span_ns", spans.end_ns - spans.begin_ns);
        zt__write_text(writer, ",\"phases\":[");
        has_memory &= zt__write_page_phases(document, &spans);
        zt__write_text(writer, "],\"queues\":[");
        zt__write_page_queues(document, &spans);
        zt__write_text(writer, "]}");
    }
    zt__free(&document->profiler->config.allocator, spans.spans);
    document->out_of_memory |= !has_memory;
}
