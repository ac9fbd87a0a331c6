/* Rows of attached streams are added to the samples in which they lie. Opens the timeline. */

#include "results/attribution.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "regions/names.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "results/clocks.h"
#include "results/results.h"
#include "results/timeline.h"

/* ---- attribution: the rows of streams within samples ----------------------------------------------------- */

/* The mutex of the stream is held. */
static uint64_t zt__middle_of_row(const zt__stream_data *data, uint64_t index) {
    const zt__kept_row *row = &data->rows[index % data->row_capacity];
    return row->begin_ns + (row->end_ns - row->begin_ns) / 2;
}

/* Sums the rows whose middle is between two times into `data->sums`. Rows that end at a marker are shorter
   than others, so metrics that are averaged are weighted by the length of the row. All other metrics count
   once a row. Returns 0 if rows of that time may still come. */
static int zt__sum_rows(zt__stream_data *data, uint64_t begin_ns, uint64_t end_ns) {
    uint32_t metrics = data->group.metric_count, m;
    uint64_t low, high;
    int complete;
    memset(data->sums, 0, metrics * sizeof *data->sums);
    zt__lock(&data->mutex);
    complete =
        !data->is_open || (data->rows_written && zt__middle_of_row(data, data->rows_written - 1) >= end_ns);
    low = complete ? zt__oldest_kept(data->rows_written, data->row_capacity) : data->rows_written;
    high = data->rows_written;
    while (low < high) { /* finds the first row by bisection */
        uint64_t between = low + (high - low) / 2;
        if (zt__middle_of_row(data, between) < begin_ns) {
            low = between + 1;
        } else {
            high = between;
        }
    }
    for (; low < data->rows_written && zt__middle_of_row(data, low) < end_ns; low++) {
        size_t place = (size_t)(low % data->row_capacity);
        const double *values = data->row_values + place * metrics;
        double lasted = (double)(data->rows[place].end_ns - data->rows[place].begin_ns);
        for (m = 0; m < metrics; m++) {
            int is_mean = data->metrics[m].aggregation == ZT_AGGREGATE_MEAN;
            if (!zt__is_nan(values[m])) {
                zt__add_value(&data->sums[m], values[m], is_mean ? lasted : 1.0);
            }
        }
    }
    zt__unlock(&data->mutex);
    return complete;
}

/* Makes room in a path for streamed metrics. Only the thread that attributes rows writes these fields, so it reads them
   without the mutex. Returns 0 without memory. */
static int zt__make_streamed_room(zt_profiler *profiler, zt__path *path, uint32_t count) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__moments *before = path->streamed, *streamed;
    if (path->streamed_count >= count) {
        return 1;
    }
    streamed = (zt__moments *)zt__allocate(allocator, count, sizeof *streamed);
    if (!streamed) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    if (before) {
        memcpy(streamed, before, path->streamed_count * sizeof *streamed);
    }
    path->streamed = streamed;
    path->streamed_count = count;
    zt__unlock(&profiler->mutex);
    zt__free(allocator, before);
    return 1;
}

/* Attributes rows to the kept samples that ended before the newest row of every open stream. Without memory,
   a sample gets no rows. The caller may hold the collector, or the reader of a stream, but no mutex. If
   another thread is attributing rows already, that thread does this work, too. */
static void zt__attribute_rows(zt_profiler *profiler) {
    zt__timeline *timeline = profiler->timeline;
    zt__lock(&profiler->mutex);
    timeline->attribute_again = 1;
    if (!profiler->attached_streams || timeline->is_attributing) {
        zt__unlock(&profiler->mutex);
        return;
    }
    timeline->is_attributing = 1;
    while (timeline->attribute_again) {
        uint64_t oldest = zt__oldest_sample(timeline), index, begin_ns, end_ns;
        zt__stream_data *first = profiler->attached_streams, *data;
        const zt__timeline_sample *sample;
        const zt__path *outer_phase;
        zt__path *sampled, *path;
        uint32_t count = profiler->streamed_count, m;
        int is_complete = 1;
        timeline->attribute_again = 0;
        if (timeline->attributed < oldest) {
            timeline->attributed = oldest;
        }
        index = timeline->attributed;
        if (index == timeline->written) {
            continue;
        }
        sample = &timeline->samples[index % timeline->capacity];
        begin_ns = zt__convert_time(&timeline->clock, sample->begin_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        end_ns = zt__convert_time(&timeline->clock, sample->end_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        sampled = zt__path_at(profiler, sample->path);
        outer_phase = sample->outer_phase;
        zt__unlock(&profiler->mutex);
        /* Streams attach at the end, so the metrics of others keep their indices. */
        for (path = sampled; path; path = zt__next_counting(path, outer_phase)) {
            count = zt__make_streamed_room(profiler, path, count) ? count : 0;
        }
        for (data = first; data && data->first_streamed < count && is_complete;
             data = zt__load(&data->next)) {
            is_complete = zt__sum_rows(data, begin_ns, end_ns);
        }
        zt__lock(&profiler->mutex);
        if (!is_complete) {
            continue; /* its rows may still come */
        }
        timeline->attribute_again = 1; /* for the next sample */
        if (index < zt__oldest_sample(timeline)) {
            continue; /* zt_clear was called, or it was replaced meanwhile */
        }
        for (path = sampled; path; path = zt__next_counting(path, outer_phase)) {
            for (data = first; data && data->first_streamed < count; data = data->next) {
                for (m = 0; m < data->group.metric_count; m++) {
                    zt__merge_moments(&path->streamed[data->first_streamed + m], &data->sums[m]);
                }
            }
        }
        timeline->attributed = index + 1;
    }
    timeline->is_attributing = 0;
    zt__unlock(&profiler->mutex);
}

/* ---- attached streams ------------------------------------------------------------------------------------ */

ZT__PRIVATE void zt__attribute_rows_of_stream(zt__stream_data *data) {
    zt_profiler *profiler;
    zt__lock(&data->mutex);
    profiler = data->profiler;
    data->is_attributing = profiler != NULL;
    zt__unlock(&data->mutex);
    if (!profiler) {
        return;
    }
    zt__attribute_rows(profiler);
    zt__lock(&data->mutex);
    data->is_attributing = 0;
    zt__unlock(&data->mutex);
}

ZT__PRIVATE int zt__detach_streams(zt_profiler *profiler, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    zt__stream_data *data = NULL;
    while ((data = zt__next_attached_stream(profiler, data)) != NULL) {
        int is_attributing;
        do {
            zt__lock(&data->mutex);
            data->profiler = NULL;
            is_attributing = data->is_attributing;
            zt__unlock(&data->mutex);
        } while (is_attributing && zt__wait_again(&wait));
        if (is_attributing) {
            return 0;
        }
    }
    return 1;
}

/* ---- opening the timeline, which from then on is called when samples are collected ---------------------- */

ZT__PRIVATE ze_result_t zt__open_timeline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const char *call = "zeDeviceGetGlobalTimestamps";
    zt__timeline *timeline = (zt__timeline *)zt__allocate(allocator, 1, sizeof *timeline);
    zt__clock_pair pair;
    ze_result_t result;
    if (!timeline) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_open", "the timeline");
    }
    profiler->timeline = timeline;
    timeline->capacity = profiler->config.timeline;
    timeline->samples =
        (zt__timeline_sample *)zt__allocate(allocator, timeline->capacity, sizeof *timeline->samples);
    timeline->values = (double *)zt__allocate(allocator, timeline->capacity,
                                              profiler->row_length * sizeof *timeline->values);
    timeline->missing = (zt__missing *)zt__allocate(allocator, ZT__MISSING_KEPT, sizeof *timeline->missing);
    timeline->executions =
        (zt__execution *)zt__allocate(allocator, timeline->capacity, sizeof *timeline->executions);
    timeline->phases =
        (zt__phase_span *)zt__allocate(allocator, timeline->capacity, sizeof *timeline->phases);
    if (!timeline->samples || !timeline->values || !timeline->missing || !timeline->executions ||
        !timeline->phases) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_open", "the timeline");
    }
    zt__init_clock(&timeline->clock, profiler->device, NULL, zt__saturate(1e9 / profiler->ns_per_tick + 0.5),
                   profiler->tick_mask);
    result = zt__read_clocks(&profiler->driver, &timeline->clock, &pair);
    if (zt__means_device_loss(result)) {
        return zt__check(&profiler->diagnostics, result, call, "");
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__report(&profiler->diagnostics, CLOCKS_UNRELATED, result, call, zt_result_name(result));
        zt__close_timeline(profiler);
        return ZE_RESULT_SUCCESS;
    }
    zt__add_clock_pair(&timeline->clock, pair);
    timeline->opened_ns = pair.ns[ZT__HOST_CLOCK];
    zt__init_clock(&timeline->kernel_clock, profiler->device, NULL, timeline->clock.ticks_per_second,
                   profiler->kernel_tick_mask);
    if (profiler->passes[0].group_count == 0) {
        zt__relate_kernel_clock(profiler);
    }
    profiler->before_collection = zt__timeline_before_collection;
    profiler->sample_collected = zt__keep_sample;
    profiler->sample_missing = zt__keep_missing;
    profiler->lists_executed = zt__keep_execution;
    profiler->phase_ended = zt__keep_phase;
    profiler->batch_collected = zt__attribute_rows;
    return result;
}

/* ---- streamed metrics ------------------------------------------------------------------------------------ */

ZT__PRIVATE uint32_t zt__get_streamed_count(const zt_profiler *profiler) {
    return profiler ? zt__read_locked(profiler, &profiler->streamed_count) : 0;
}

ZT__PRIVATE const zt_metric *zt__streamed_metric_at(const zt_profiler *profiler, uint32_t index,
                                                    uint32_t *stream) {
    zt__stream_data *data = NULL;
    *stream = 0;
    do { /* what is counted belongs to a stream that is attached */
        data = zt__next_attached_stream(zt__mutable(profiler), data);
        ++*stream;
    } while (index - data->first_streamed >= data->group.metric_count);
    return &data->metrics[index - data->first_streamed];
}
