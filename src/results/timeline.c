/* The timeline: the newest samples, and what a stream shares with a profiler. */

#include "results/timeline.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/groups.h"
#include "regions/columns.h"
#include "regions/first_query.h"
#include "regions/names.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "results/clocks.h"

/* ---- what a stream shares with a profiler ---------------------------------------------------------------- */

ZT__PRIVATE uint64_t zt__oldest_kept(uint64_t written, uint32_t capacity) {
    return written > capacity ? written - capacity : 0;
}

ZT__PRIVATE uint64_t zt__oldest_sample(const zt__timeline *timeline) {
    uint64_t oldest = zt__oldest_kept(timeline->written, timeline->capacity);
    return oldest > timeline->first ? oldest : timeline->first;
}

ZT__PRIVATE void zt__clear_timeline(zt__timeline *timeline) {
    uint64_t i;
    for (i = zt__oldest_sample(timeline); i < timeline->written; i++) {
        uint64_t end_ns = timeline->samples[i % timeline->capacity].end_ns;
        timeline->replaced_until_ns =
            end_ns > timeline->replaced_until_ns ? end_ns : timeline->replaced_until_ns;
    }
    timeline->first = timeline->attributed = timeline->written;
    timeline->missing_written = timeline->executions_written = timeline->phases_written = 0;
    timeline->ambiguous = 0;
    timeline->changes++;
}

ZT__PRIVATE void zt__release_stream_data(zt__stream_data *data) {
    zt_allocator allocator = data->allocator;
    uint32_t owners, i;
    zt__lock(&data->mutex);
    owners = --data->owners;
    zt__unlock(&data->mutex);
    if (owners) {
        return;
    }
    for (i = 0; i < data->marker_count; i++) {
        zt__free(&allocator, data->markers[i]);
    }
    zt__map_free(&data->marker_names, &allocator);
    zt__free(&allocator, data->rows);
    zt__free(&allocator, data->row_values);
    zt__free(&allocator, data->sums);
    zt__free(&allocator, data->metrics);
    zt__free_group(&allocator, &data->group);
    zt__destroy_mutex(&data->mutex);
    zt__free(&allocator, data);
}

ZT__PRIVATE zt__stream_data *zt__next_attached_stream(zt_profiler *profiler, zt__stream_data *before) {
    zt__stream_data *first;
    if (before) {
        return zt__load(&before->next);
    }
    zt__lock(&profiler->mutex);
    first = profiler->attached_streams;
    zt__unlock(&profiler->mutex);
    return first;
}

ZT__PRIVATE void zt__keep_row(zt__stream_data *data, const zt__kept_row *row, const double *values) {
    size_t place, metrics = data->group.metric_count;
    zt__lock(&data->mutex);
    place = (size_t)(data->rows_written++ % data->row_capacity);
    data->rows[place] = *row;
    memcpy(data->row_values + place * metrics, values, metrics * sizeof *values);
    zt__unlock(&data->mutex);
}

/* ---- samples --------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__relate_clocks(zt_profiler *profiler, int now) {
    zt__timeline *timeline = profiler->timeline;
    zt__clock_pair pair;
    int due;
    if (!timeline || !timeline->clock.device || zt__is_device_lost(&profiler->diagnostics)) {
        return;
    }
    zt__lock(&profiler->mutex);
    due = now || zt__is_clock_pair_due(&timeline->clock);
    zt__unlock(&profiler->mutex);
    if (!due || zt__read_clocks(&profiler->driver, &timeline->clock, &pair) != ZE_RESULT_SUCCESS) {
        return;
    }
    zt__lock(&profiler->mutex);
    zt__add_clock_pair(&timeline->clock, pair);
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__timeline_before_collection(zt_profiler *profiler) {
    zt__relate_clocks(profiler, 0);
}

ZT__PRIVATE void zt__keep_missing(zt_profiler *profiler, const zt__missing *missing) {
    zt__timeline *timeline = profiler->timeline;
    zt__missing *newest =
        &timeline->missing[(timeline->missing_written + ZT__MISSING_KEPT - 1) % ZT__MISSING_KEPT];
    if (timeline->missing_written && newest->region == missing->region && newest->list == missing->list &&
        newest->list_name == missing->list_name && newest->cause == missing->cause) {
        newest->count++;
    } else {
        newest = &timeline->missing[timeline->missing_written++ % ZT__MISSING_KEPT];
        *newest = *missing;
    }
    newest->kept_before = timeline->written;
    timeline->changes++;
}

ZT__PRIVATE void zt__keep_execution(zt_profiler *profiler, uint64_t begin_ns) {
    zt__timeline *timeline = profiler->timeline;
    uint32_t thread = zt__get_thread_number();
    uint64_t i = timeline->executions_written;
    zt__execution *execution;
    if (begin_ns) {
        execution = &timeline->executions[timeline->executions_written++ % timeline->capacity];
        execution->begin_ns = begin_ns;
        execution->end_ns = 0;
        execution->thread = thread;
        return;
    }
    for (; i > zt__oldest_kept(timeline->executions_written, timeline->capacity); i--) {
        execution = &timeline->executions[(i - 1) % timeline->capacity];
        if (execution->thread == thread && !execution->end_ns) {
            execution->end_ns = zt__now_ns();
            return;
        }
    }
}

ZT__PRIVATE void zt__keep_phase(zt_profiler *profiler, const zt__phase_span *span) {
    zt__timeline *timeline = profiler->timeline;
    timeline->phases[timeline->phases_written++ % timeline->capacity] = *span;
}

ZT__PRIVATE void zt__relate_kernel_clock(zt_profiler *profiler) {
    enum { MOST_ATTEMPTS = 5, GOOD_ERROR_NS = 100000 };
    zt__timeline *timeline = profiler->timeline;
    uint64_t mask = profiler->kernel_tick_mask;
    zt__pass *pass = &profiler->passes[profiler->metric_count > 0 ? ZT__TIMES_PASS : 0];
    ze_kernel_timestamp_result_t stamps;
    uint64_t host, before = 0, after = 0, stamp, error_ns, slack = timeline->clock.ticks_per_second / 10000;
    uint32_t i;
    memset(&stamps, 0, sizeof stamps);
    for (i = 0; i < MOST_ATTEMPTS && (i == 0 || timeline->kernel_error_ns > GOOD_ERROR_NS); i++) {
        if (profiler->driver.zeDeviceGetGlobalTimestamps(profiler->device, &host, &before) !=
                ZE_RESULT_SUCCESS ||
            !zt__run_first_query(profiler, pass, &stamps) ||
            profiler->driver.zeDeviceGetGlobalTimestamps(profiler->device, &host, &after) !=
                ZE_RESULT_SUCCESS) {
            return;
        }
        stamp = stamps.global.kernelEnd;
        after = before + ((after - before) & profiler->tick_mask);
        if (((stamp - before + slack) & mask) <= after - before + 2 * slack) {
            return; /* it is the same clock, or as if it were */
        }
        error_ns = zt__ticks_to_ns(&timeline->clock, (after - before) / 2 + 1);
        if (i == 0 || error_ns < timeline->kernel_error_ns) {
            timeline->kernel_offset = (stamp - before - (after - before) / 2) & mask;
            timeline->kernel_error_ns = error_ns;
        }
    }
}

ZT__PRIVATE void zt__prepare_times_alone(zt_profiler *profiler) {
    zt__pass *pass = &profiler->passes[ZT__TIMES_PASS];
    const char *call;
    if (profiler->metric_count > 0 && pass->probe_count == 0 &&
        zt__make_probes(profiler, pass, &call) == ZE_RESULT_SUCCESS && profiler->timeline) {
        ZT__INTERNAL(zt__relate_kernel_clock(profiler));
    }
}

ZT__PRIVATE void zt__keep_sample(zt_profiler *profiler, zt__reading *reading, double *row) {
    enum { CLOCK_ERROR_NS = 1000000 };
    zt__timeline *timeline = profiler->timeline;
    const zt__clock *clock = &timeline->clock;
    const zt__sample_times *times = &reading->times;
    const zt__clock *stamp_clock = times->is_kernel ? &timeline->kernel_clock : clock;
    size_t place = (size_t)(timeline->written % timeline->capacity);
    size_t columns = profiler->row_length;
    uint64_t submitted = zt__convert_time(clock, reading->submitted_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
    uint64_t second = 1000000000u, rate = stamp_clock->ticks_per_second,
             tolerance = zt__clock_tolerance(stamp_clock);
    uint64_t least = submitted > tolerance ? submitted - tolerance : 0, most;
    zt__timeline_sample sample;
    /* Only the first execution of a recorded list has a queue latency. */
    if (reading->knows_execution && reading->origin.executions == 1) {
        row[zt__latency_column(profiler, ZT__QUEUE_LATENCY)] =
            (double)(reading->submitted_ns - reading->origin.appended_ns);
    }
    /* It ran between its submission and the moment at which it was seen complete. In that time the device's
       clock may have wrapped around, and then the time stamps fit in two places, or in none. */
    if (times->is_kernel) {
        uint64_t ticks = (times->begin_ticks - timeline->kernel_offset) & stamp_clock->mask;
        uint64_t least_ticks = least / second * rate + least % second * rate / second;
        if (stamp_clock->wrap_ns) {
            ticks = least_ticks + ((ticks - least_ticks) & stamp_clock->mask);
        }
        sample.begin_ns = ticks / rate * second + ticks % rate * second / rate;
    } else {
        sample.begin_ns =
            zt__unwrap_after(stamp_clock, zt__ticks_to_ns(stamp_clock, times->begin_ticks), least);
    }
    sample.end_ns = sample.begin_ns + zt__ticks_to_ns(stamp_clock, times->end_ticks - times->begin_ticks);
    most = zt__convert_time(clock, times->not_after_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK) + tolerance;
    if (stamp_clock->wrap_ns && (sample.end_ns > most || sample.end_ns + stamp_clock->wrap_ns <= most)) {
        zt__missing missing = {NULL, NULL, NULL, NULL, 0, ZT_CAUSE_COUNT, 1, 0};
        missing.region = reading->region;
        missing.list = times->list;
        missing.list_name = reading->origin.list_name;
        missing.since_ns = reading->submitted_ns;
        timeline->ambiguous++;
        zt__keep_missing(profiler, &missing);
        return;
    }
    reading->begin_ns = zt__convert_time(clock, sample.begin_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
    reading->end_ns = zt__convert_time(clock, sample.end_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
    sample.list = times->list;
    sample.runs_on = times->runs_on;
    sample.submitted_ns = reading->submitted_ns;
    sample.origin = reading->origin;
    if ((sample.origin.executions > 0 && !reading->knows_execution) ||
        sample.begin_ns + CLOCK_ERROR_NS + zt__clock_error(clock, reading->submitted_ns) < submitted) {
        sample.origin.submitted_by = 0; /* it is not the execution that was submitted */
    }
    sample.bytes = reading->bytes;
    sample.region = reading->region->index;
    sample.path = reading->path->index;
    sample.outer_phase = reading->outer_phase;
    sample.pass = profiler->batch.pass->index;
    if (sample.origin.kind == ZT__REGION_OF_APPLICATION && reading->path->inner) {
        sample.origin.kind = ZT__REGION_AROUND_OTHERS;
    }
    /* The launch latency is known only if the sample is of the execution that was submitted. */
    if (reading->knows_execution && sample.origin.submitted_by) {
        double error_ns = (double)zt__clock_error(clock, reading->begin_ns) +
                          (times->is_kernel ? (double)timeline->kernel_error_ns : 0);
        row[zt__latency_column(profiler, ZT__LAUNCH_LATENCY)] =
            (double)(int64_t)(reading->begin_ns - reading->submitted_ns);
        reading->launch_error_ns = error_ns;
    }
    if (timeline->written - timeline->first >= timeline->capacity) {
        if (timeline->samples[place].end_ns > timeline->replaced_until_ns) {
            timeline->replaced_until_ns = timeline->samples[place].end_ns;
        }
        zt__path_at(profiler, timeline->samples[place].path)->kept--;
    }
    reading->path->kept++;
    timeline->samples[place] = sample;
    memcpy(timeline->values + place * columns, row, columns * sizeof *row);
    timeline->written++;
    timeline->changes++;
}

/* ---- closing -------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__close_timeline(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__timeline *timeline = profiler->timeline;
    while (profiler->attached_streams) {
        zt__stream_data *data = profiler->attached_streams;
        profiler->attached_streams = data->next;
        zt__release_stream_data(data);
    }
    profiler->timeline = NULL;
    if (timeline) {
        zt__free(allocator, timeline->samples);
        zt__free(allocator, timeline->values);
        zt__free(allocator, timeline->missing);
        zt__free(allocator, timeline->executions);
        zt__free(allocator, timeline->phases);
        zt__free(allocator, timeline);
    }
}

/* ---- for reports: kept samples and rows ------------------------------------------------------------------ */

ZT__PRIVATE uint64_t zt__get_kept_samples(zt_profiler *profiler, uint64_t *first, uint64_t *end) {
    const zt__timeline *timeline = profiler->timeline;
    uint64_t replaced = 0;
    *first = *end = 0;
    if (timeline) {
        zt__lock(&profiler->mutex);
        *end = timeline->written;
        *first = zt__oldest_sample(timeline);
        replaced = *first - timeline->first + timeline->replaced_before;
        zt__unlock(&profiler->mutex);
    }
    return replaced;
}

ZT__PRIVATE int zt__copy_kept_sample(zt_profiler *profiler, uint64_t index, zt__timeline_sample *sample,
                                     double *values) {
    const zt__timeline *timeline = profiler->timeline;
    size_t place = (size_t)(index % timeline->capacity), columns = profiler->row_length;
    int is_kept;
    zt__lock(&profiler->mutex);
    is_kept = index >= zt__oldest_sample(timeline);
    if (is_kept) {
        *sample = timeline->samples[place];
        sample->begin_ns =
            zt__convert_time(&timeline->clock, sample->begin_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        sample->end_ns = zt__convert_time(&timeline->clock, sample->end_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        memcpy(values, timeline->values + place * columns, columns * sizeof *values);
    }
    zt__unlock(&profiler->mutex);
    return is_kept;
}

ZT__PRIVATE void zt__get_kept_rows(zt__stream_data *data, uint64_t *first, uint64_t *end) {
    zt__lock(&data->mutex);
    *end = data->rows_written;
    *first = zt__oldest_kept(data->rows_written, data->row_capacity);
    zt__unlock(&data->mutex);
}
