/* The reader thread; from reports in the ring to rows with times of the host, and their delivery. */

#include "streams/rows.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/calculation.h"
#include "metrics/groups.h"
#include "results/attribution.h"
#include "results/clocks.h"
#include "results/timeline.h"
#include "streams/stream.h"
#include "streams/streamer.h"

/* ---- the reader thread ----------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__sleep_until_notified(zt_stream *stream) {
    enum { SHORTEST_NS = 100000 };
    uint64_t step = (uint64_t)stream->info.period_ns * stream->info.notify_reports / 4;
    uint64_t deadline = zt__deadline(ZT__STREAM_WAIT_NS);
    step = step > SHORTEST_NS ? step : (uint64_t)SHORTEST_NS;
    step = step < ZT__STREAM_WAIT_NS ? step : (uint64_t)ZT__STREAM_WAIT_NS;
    do {
        zt__sleep_thread(&stream->thread, step);
    } while (!zt__load(&stream->thread.stop_requested) && zt__now_ns() < deadline &&
             !zt__was_notified(stream));
}

ZT__PRIVATE int zt__run_reader_thread(void *user) {
    zt_stream *stream = (zt_stream *)user;
    zt__fill_ring(stream);
    zt__store(&stream->reader_cpu_ns, zt__get_thread_cpu_ns());
    zt__sleep_until_notified(stream);
    return !zt__is_device_lost(stream->diagnostics);
}

/* ---- the times of rows, with `reader` held --------------------------------------------------------------- */

/* A row as it was calculated. Times are those of the device's clock, unwrapped. */
typedef struct zt__raw_row {
    const zet_typed_value_t *values;
    int may_follow_gap;    /* its report is gap_first or later, so the gap may be before this row */
    int is_last_to_follow; /* its report is gap_last or later, so the gap is not before a later row */
    uint64_t gap_ns;       /* when the device reported the gap */
    uint64_t read_ns;      /* when its report had been read: the row ended before that */
    uint64_t end_ns;       /* the end of its period */
    uint64_t since_end_ns; /* from the end of the row before to its own */
    uint64_t length_ns;
    int has_length;
    int is_valid; /* it has a length, and is not the first of the capture */
    int gap;      /* rows are missing before it */
} zt__raw_row;

/* Finds when the period of a row ended, which is the time stamp of its report, and how long it lasted.

   Some drivers do not report to which clock time stamps belong, and a clock may start again from 0
   unexpectedly. If a time stamp is impossible, the row is assumed to follow the one before it directly, and
   `stamp_offset` is set so that later time stamps continue from there. */
static void zt__find_period(zt_stream *stream, zt__raw_row *row) {
    enum { SLACK_NS = 1000000000 };
    const zt__clock *clock = &stream->clock;
    uint64_t wrap = clock->wrap_ns, tolerance = zt__clock_tolerance(clock);
    uint64_t slack = wrap ? tolerance : (uint64_t)SLACK_NS, opened_ns = clock->pairs[0].ns[ZT__DEVICE_CLOCK];
    uint64_t before = stream->has_end ? stream->end_ns : opened_ns;
    uint64_t least = before > slack ? before - slack : 0, period = stream->info.period_ns;
    uint64_t wrapped = 0, stamp = 0, length = period, reported, end, later_ns;
    int has_stamp = zt__read_integer(row->values, stream->time_metric, &wrapped);
    int is_reported, in_future, in_next_wrap;
    /* The time stamp, or one that is possible. */
    if (has_stamp) {
        wrapped = wrap ? wrapped % wrap : wrapped;
        stamp = wrap ? (wrapped + stream->stamp_offset) % wrap : wrapped + stream->stamp_offset;
        end = zt__unwrap_after(clock, stamp, least);
        if (end < least || end > row->read_ns + slack) {
            if (zt__read_integer(row->values, stream->length_metric, &reported) && reported < length) {
                length = reported;
            }
            end = before + length < row->read_ns ? before + length : row->read_ns;
            stamp = wrap ? end % wrap : end;
            stream->stamp_offset = wrap ? (stamp + wrap - wrapped) % wrap : stamp - wrapped;
        }
    }

    /* The end of the period. */
    if (!stream->has_end) {
        row->end_ns = opened_ns;
        if (has_stamp) {
            row->end_ns = zt__unwrap_after(clock, stamp, opened_ns > tolerance ? opened_ns - tolerance : 0);
        }
    } else if (!has_stamp) { /* a period after the last row, or at the end of the gap */
        row->end_ns = stream->end_ns + period;
        if (row->is_last_to_follow && row->end_ns < row->gap_ns) {
            row->end_ns = row->gap_ns;
        }
    } else {
        row->end_ns = zt__unwrap_after(clock, stamp, stream->end_ns);
        later_ns = row->end_ns - stream->end_ns;
        /* A time stamp that is a little before the last one looks like one that is nearly a whole wrap after
           it. But then the row would end in the future, or much later although the device dropped nothing. */
        in_future = row->end_ns > row->read_ns + tolerance;
        in_next_wrap = !row->may_follow_gap && later_ns > wrap - tolerance && later_ns > period + tolerance;
        if (row->end_ns < stream->end_ns || (wrap && later_ns > wrap / 2 && (in_future || in_next_wrap))) {
            row->end_ns = stream->end_ns;
        } else if (row->may_follow_gap && later_ns > period + period / 2) {
            /* In a gap the clock can wrap more than once. The gap was reported soon after its end. */
            uint64_t after_gap_ns = zt__unwrap_near(clock, stamp, row->gap_ns);
            row->end_ns = after_gap_ns > row->end_ns ? after_gap_ns : row->end_ns;
        }
    }
    if (stream->has_end) {
        row->since_end_ns = row->end_ns - stream->end_ns;
    }

    /* The length is what the device reports, but at most the time since the end of the row before. If the
       device reports no length, it is that time; but not after a failed calculation, when a row is missing
       there. */
    is_reported = zt__read_integer(row->values, stream->length_metric, &row->length_ns);
    row->has_length = is_reported || (stream->has_end && !stream->is_after_failure);
    if (!is_reported || (stream->has_end && row->length_ns > row->since_end_ns)) {
        row->length_ns = row->since_end_ns;
    }
    if (row->length_ns > row->end_ns) {
        row->length_ns = row->end_ns;
    }
}

/* Returns the name of the marker that ended a row, or NULL. In a row without a marker, the metric
   StreamMarker may still have the number of the last one, or another meaning. So a row with the same number
   as the one before has a marker only if the metric ReportReason shows it. */
static const char *zt__find_marker(zt_stream *stream, const zet_typed_value_t *values) {
    zt__stream_data *data = stream->data;
    uint64_t number = 0;
    uint32_t last = stream->last_marker, index;
    const char *name = NULL;
    double reason = zt__nan();
    if (!zt__read_integer(values, stream->marker_metric, &number)) {
        return NULL;
    }
    if (stream->reason_metric != UINT32_MAX) {
        reason = zt__value_of(&values[stream->reason_metric]);
    }
    stream->last_marker = (uint32_t)number;
    index = (uint32_t)number - stream->marker_base;
    zt__lock(&data->mutex);
    if (number <= UINT32_MAX && index < data->marker_count) {
        name = data->markers[index]->name;
    }
    zt__unlock(&data->mutex);
    if (!name) {
        stream->other_reason = reason;
    } else if ((uint32_t)number != last) {
        stream->marker_reason = reason;
    } else if (zt__is_nan(reason) || zt__is_nan(stream->marker_reason) || reason != stream->marker_reason ||
               (!zt__is_nan(stream->other_reason) && reason == stream->other_reason)) {
        name = NULL;
    }
    return name;
}

/* A row that is discarded gives its marker to the next one. If that has its own, the marker is lost. */
static void zt__pass_marker_on(zt_stream *stream, const char **marker, int is_discarded) {
    const char *before = stream->pending_marker;
    stream->pending_marker = is_discarded ? *marker : NULL;
    if (before && *marker) {
        zt__lock(&stream->data->mutex);
        stream->counts.lost_markers++;
        zt__unlock(&stream->data->mutex);
    } else if (before && is_discarded) {
        stream->pending_marker = before;
    } else if (before) {
        *marker = before;
    }
}

/* ---- from the ring to the application -------------------------------------------------------------------- */

ZT__PRIVATE uint32_t zt__find_waiting(zt_stream *stream, const uint8_t **raw) {
    uint64_t waiting, place;
    zt__lock(&stream->data->mutex);
    waiting = stream->written - stream->calculated;
    place = stream->capacity ? stream->calculated % stream->capacity : 0;
    if (waiting > stream->capacity - place) {
        waiting = stream->capacity - place;
    }
    zt__unlock(&stream->data->mutex);
    *raw = stream->ring + (size_t)place * stream->report_size;
    return waiting < stream->max_calculated ? (uint32_t)waiting : stream->max_calculated;
}

ZT__PRIVATE void zt__report_not_calculated(zt_stream *stream, ze_result_t result, const char *call) {
    stream->is_after_failure = 1;
    zt__store(&stream->is_misaligned, 1);
    if (zt__means_device_loss(result)) {
        zt__check(stream->diagnostics, result, call, "");
    } else {
        zt__report(stream->diagnostics, NOT_CALCULATED, result, call, zt_result_name(result));
    }
}

/* Gets the next row, with its times and whether it follows a gap, of the reports whose number is below `end`.
   Calculates reports if no calculated row is left. Counts the row as delivered if it is valid and
   `is_wanted`, else as discarded. Returns 0 if there is no row.

   Drivers keep state between calls: a row begins where the report before it ended, which for the first call may
   be in an earlier capture, or nowhere, so that there is no row. So the first report is calculated alone
   before; then it makes a row, which is discarded (`is_first_row`), but has its marker. */
static int zt__next_row(zt_stream *stream, uint64_t end, int is_wanted, zt__raw_row *row) {
    const zt__group *group = &stream->data->group;
    zt__process *process = zt__get_process();
    const zet_metric_group_calculation_type_t type = ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint64_t period = stream->info.period_ns, report, periods;
    int follows_gap, is_delivered;
    while (stream->row_next == stream->row_count) {
        const uint8_t *raw;
        uint32_t reports = stream->calculated < end && process ? zt__find_waiting(stream, &raw) : 0;
        uint32_t count = reports * group->metric_count, rows = 0;
        ze_result_t result = ZE_RESULT_SUCCESS;
        if (reports == 0) {
            return 0;
        }
        zt__lock(&process->mutex); /* drivers calculate on one thread at a time */
        if (!stream->has_calculated) {
            uint32_t room = count;
            result = zetMetricGroupCalculateMetricValues(group->handle, type, stream->report_size, raw, &room,
                                                         stream->values);
        }
        if (result == ZE_RESULT_SUCCESS) {
            result = zetMetricGroupCalculateMetricValues(group->handle, type, reports * stream->report_size,
                                                         raw, &count, stream->values);
        }
        zt__unlock(&process->mutex);
        if (result == ZE_RESULT_SUCCESS) {
            rows = count / group->metric_count < reports ? count / group->metric_count : reports;
            stream->is_first_row = !stream->has_calculated && rows == reports;
            stream->has_calculated = 1;
        } else {
            zt__report_not_calculated(stream, result, "zetMetricGroupCalculateMetricValues");
        }
        zt__lock(&stream->data->mutex);
        stream->row_report = stream->calculated + (reports - rows);
        stream->calculated += reports;
        stream->row_next = 0;
        stream->row_count = rows;
        stream->counts.discarded += reports - rows;
        zt__unlock(&stream->data->mutex);
    }

    memset(row, 0, sizeof *row);
    zt__lock(&stream->data->mutex);
    row->values = stream->values + (size_t)stream->row_next * group->metric_count;
    report = stream->row_report + stream->row_next;
    row->may_follow_gap = report >= stream->gap_first;
    row->is_last_to_follow = row->may_follow_gap && report >= stream->gap_last;
    row->gap_ns = zt__convert_time(&stream->clock, stream->gap_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
    row->read_ns = zt__convert_time(&stream->clock, stream->written_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
    zt__unlock(&stream->data->mutex);
    zt__find_period(stream, row);

    /* The device does not report where in gap_first to gap_last it dropped reports. There is a gap before
       each row that ends much more than a period after the one before; if there is no such row, before the
       last. */
    follows_gap = row->may_follow_gap && (row->since_end_ns > period + period / 2 ||
                                          (row->is_last_to_follow && !stream->is_gap_located));
    periods = (row->since_end_ns + period / 2) / period;
    row->gap = follows_gap || stream->is_after_failure || stream->is_gap_pending;
    row->is_valid = row->has_length && !stream->is_first_row;
    is_delivered = row->is_valid && is_wanted;
    zt__lock(&stream->data->mutex);
    stream->row_next++;
    stream->counts.rows += is_delivered != 0;
    stream->counts.discarded += !is_delivered;
    if (row->may_follow_gap && periods > 1) {
        stream->counts.dropped += periods - 1;
    }
    stream->is_gap_located |= follows_gap;
    if (row->is_last_to_follow && report >= stream->gap_last) { /* else another gap was reported meanwhile */
        stream->gap_first = UINT64_MAX;
        stream->is_gap_located = 0;
    }
    zt__unlock(&stream->data->mutex);
    stream->is_gap_pending = row->gap && !is_delivered;
    stream->is_first_row = stream->is_after_failure = 0;
    stream->has_end = 1;
    stream->end_ns = row->end_ns;
    return 1;
}

ZT__PRIVATE void zt__deliver_all(zt_stream *stream, zt__receiver *receiver, int reads_device) {
    enum { MOST_READS = 1024 };
    const zt__clock *clock = &stream->clock;
    zt__stream_data *data = stream->data;
    int more = 1, reads = 0;
    zt__clock_pair pair;
    if (zt__is_clock_pair_due(clock) && !zt__is_device_lost(stream->diagnostics) &&
        zt__read_clocks(&stream->driver, clock, &pair) == ZE_RESULT_SUCCESS) {
        zt__add_clock_pair(&stream->clock, pair);
    }
    while (more && !receiver->has_stopped && reads++ < MOST_READS) {
        int is_attached, is_wanted;
        uint64_t end;
        zt__raw_row raw;
        more = reads_device && zt__fill_ring(stream);
        zt__lock(&data->mutex);
        is_attached = data->profiler != NULL;
        end = stream->written; /* the reader thread may add more all the time */
        zt__unlock(&data->mutex);
        is_wanted = is_attached || receiver->function;
        while (!receiver->has_stopped && zt__next_row(stream, end, is_wanted, &raw)) {
            zt__kept_row kept;
            zt_row row;
            uint32_t m;
            row.device_ns = raw.end_ns - raw.length_ns;
            kept.begin_ns = zt__convert_time(clock, row.device_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
            kept.end_ns = zt__convert_time(clock, raw.end_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
            /* A new pair of clock times can move converted times back by a little. */
            kept.begin_ns = kept.begin_ns > stream->host_ns ? kept.begin_ns : stream->host_ns;
            kept.end_ns = kept.end_ns > kept.begin_ns ? kept.end_ns : kept.begin_ns;
            stream->host_ns = kept.end_ns;
            kept.marker = zt__find_marker(stream, raw.values);
            kept.gap = raw.gap;
            receiver->row_count += raw.is_valid != 0;
            zt__pass_marker_on(stream, &kept.marker, !raw.is_valid);
            if (!raw.is_valid || !is_wanted) {
                continue;
            }
            for (m = 0; m < data->group.metric_count; m++) {
                stream->row[m] = zt__value_of(&raw.values[m]);
            }
            if (is_attached) {
                zt__keep_row(data, &kept, stream->row);
            }
            if (receiver->function) {
                row.time_ns = kept.begin_ns;
                row.length_ns = raw.length_ns;
                row.gap = kept.gap;
                row.metric_count = data->group.metric_count;
                row.values = stream->row;
                row.marker = kept.marker;
                receiver->has_stopped = receiver->function(&row, receiver->user) != 0;
            }
        }
    }
    zt__attribute_rows_of_stream(data);
}
