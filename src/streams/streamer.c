/* Opens the driver's streamer, and reads its reports into the ring. */

#include "streams/streamer.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "metrics/activation.h"
#include "metrics/availability.h"
#include "metrics/groups.h"
#include "metrics/statistics.h"
#include "results/clocks.h"
#include "results/timeline.h"
#include "streams/stream.h"

/* ---- opening --------------------------------------------------------------------------------------------- */

/* Reports why the device cannot be sampled. Returns the result of the call that failed. */
static ze_result_t zt__report_stream_refusal(zt_stream *stream, ze_result_t result, const char *call,
                                             const zt__counter_holder *holder) {
    zt__report_refusal(stream->diagnostics, stream->device,
                       stream->is_of_instructions ? ZT__FOR_INSTRUCTIONS : ZT__FOR_STREAM, result, call,
                       holder);
    return result;
}

ZT__PRIVATE ze_result_t zt__find_stream_group(zt_stream *stream) {
    const zet_metric_group_sampling_type_flags_t type = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    const zt_allocator *allocator = &stream->config.allocator;
    const char *name = stream->config.group ? stream->config.group : "ComputeBasic", *call;
    zt__group *group = &stream->data->group;
    zt__catalog catalog;
    uint32_t index = 0, tiles = 0;
    ze_result_t result = zt__open_catalog(allocator, &stream->driver, stream->device, &catalog, &call);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, call, NULL);
    }
    if (stream->is_of_instructions) {
        while (index < catalog.count && !catalog.samples_instructions[index]) {
            index++;
        }
    } else {
        index = zt__find_group(&catalog, name, strlen(name), type);
        if (index == UINT32_MAX && !stream->config.group) {
            index = zt__find_group(&catalog, NULL, 0, type);
        }
    }
    if (index < catalog.count) {
        group->handle = catalog.handles[index];
        group->properties = catalog.properties[index];
        group->tiles = 1;
        stream->info.group = group->properties.name;
    } else if (stream->is_of_instructions && catalog.count > 0) {
        result = zt__report(stream->diagnostics, NO_INSTRUCTION_SAMPLING, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            (unsigned)catalog.count);
    } else if (zt__has_counters(&catalog)) {
        result =
            zt__report_no_group(stream->diagnostics, stream->opened_by, &catalog, name, strlen(name), type);
    } else {
        result = zt__report(stream->diagnostics, METRIC_LIBRARY_MISSING,
                            ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, (unsigned)catalog.count);
    }
    zt__close_catalog(allocator, &catalog);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    ZT__INTERNAL(result = zeDeviceGetSubDevices(stream->device, &tiles, NULL));
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(stream->diagnostics, result, "zeDeviceGetSubDevices", "Update the driver.");
    }
    if (tiles > 1) {
        return zt__report(stream->diagnostics, SEVERAL_TILES, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          stream->opened_by, (unsigned)tiles, stream->info.group,
                          stream->is_of_instructions ? "profiler" : "stream");
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__load_stream_metrics(zt_stream *stream) {
    zt__stream_data *data = stream->data;
    const char *call;
    uint32_t i;
    ze_result_t result = zt__load_metrics(&stream->config.allocator, &data->group, &call);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, call, NULL);
    }
    data->metrics =
        (zt_metric *)zt__allocate(&stream->config.allocator, data->group.metric_count, sizeof *data->metrics);
    if (!data->metrics) {
        return zt__report_no_memory(stream->diagnostics, stream->opened_by, "metrics");
    }
    for (i = 0; i < data->group.metric_count; i++) {
        zt_metric *metric = &data->metrics[i];
        int in_ns;
        zt__describe_metric(&data->group, i, metric);
        in_ns = strcmp(metric->units, "ns") == 0;
        if (in_ns && metric->type == (int)ZET_METRIC_TYPE_TIMESTAMP && stream->time_metric == UINT32_MAX) {
            stream->time_metric = i;
        } else if (in_ns && strcmp(metric->name, "GpuTime") == 0) {
            stream->length_metric = i;
        } else if (strcmp(metric->name, "StreamMarker") == 0) {
            stream->marker_metric = i;
        } else if (strcmp(metric->name, "ReportReason") == 0) {
            stream->reason_metric = i;
        }
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__make_room_for_rows(zt_stream *stream) {
    enum { LEAST_ROWS = 16, MOST_ROWS = 256, LEAST_RING = 16384 };
    const zt_allocator *allocator = &stream->config.allocator;
    zt__stream_data *data = stream->data;
    uint32_t metrics = data->group.metric_count;
    size_t limit = stream->config.memory_limit, row_size = metrics * sizeof *stream->values;
    size_t at_once = limit / 4 / row_size, least = LEAST_ROWS * row_size + LEAST_RING;
    int complete;
    if (limit < least) {
        return zt__report(stream->diagnostics, MEMORY_LIMIT, ZE_RESULT_ERROR_INVALID_SIZE, stream->opened_by,
                          (unsigned long long)limit, stream->info.group, (unsigned long long)least);
    }
    stream->max_calculated = at_once < MOST_ROWS ? (uint32_t)at_once : (uint32_t)MOST_ROWS;
    stream->ring_size = limit - stream->max_calculated * row_size;
    stream->info.memory = limit;
    stream->values = (zet_typed_value_t *)zt__allocate(allocator, stream->max_calculated, row_size);
    stream->ring = (uint8_t *)zt__allocate(allocator, stream->ring_size, 1);
    stream->row = (double *)zt__allocate(allocator, metrics, sizeof *stream->row);
    complete = stream->values && stream->ring && stream->row;
    if (stream->config.profiler) {
        data->row_capacity = stream->config.timeline_rows;
        data->rows = (zt__kept_row *)zt__allocate(allocator, data->row_capacity, sizeof *data->rows);
        data->row_values =
            (double *)zt__allocate(allocator, data->row_capacity, metrics * sizeof *data->row_values);
        data->sums = (zt__moments *)zt__allocate(allocator, metrics, sizeof *data->sums);
        complete = complete && data->rows && data->row_values && data->sums;
    }
    return complete ? ZE_RESULT_SUCCESS
                    : zt__report_no_memory(stream->diagnostics, stream->opened_by, "reports and rows");
}

/* zet_metric_global_timestamps_resolution_exp_t, which old headers do not have. */
typedef struct zt__timestamps_resolution {
    uint32_t stype;
    void *next;
    uint64_t ticks_per_second, valid_bits;
} zt__timestamps_resolution;

/* Queries the size of a report. A device may not know it before there is one. */
static ze_result_t zt__query_report_size(zt_stream *stream) {
    size_t size = 0;
    ze_result_t result = zetMetricStreamerReadData(stream->streamer, 1, &size, NULL);
    if (result == ZE_RESULT_NOT_READY || (result == ZE_RESULT_SUCCESS && size == 0)) {
        return ZE_RESULT_SUCCESS;
    }
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(stream->diagnostics, result, "zetMetricStreamerReadData", "Update the driver.");
    }
    if (stream->ring_size / size < 2) {
        return zt__report(stream->diagnostics, MEMORY_LIMIT, ZE_RESULT_ERROR_INVALID_SIZE, stream->opened_by,
                          (unsigned long long)stream->config.memory_limit, stream->info.group,
                          (unsigned long long)(stream->config.memory_limit + 2 * size));
    }
    zt__lock(&stream->data->mutex);
    stream->capacity = (uint32_t)(stream->ring_size / size);
    stream->report_size = size;
    zt__unlock(&stream->data->mutex);
    return result;
}

ZT__PRIVATE ze_result_t zt__open_streamer(zt_stream *stream) {
    enum { RESOLUTION_STYPE = 9 };
    zet_metric_group_handle_t group = stream->data->group.handle;
    zt__clock *clock = &stream->clock;
    zet_metric_group_properties_t properties;
    zt__timestamps_resolution resolution;
    zet_metric_streamer_desc_t streamer;
    ze_device_properties_t device;
    ze_event_pool_desc_t pool;
    ze_event_desc_t event;
    zt__counter_holder holder;
    zt__clock_pair pair;
    const char *call = "zeEventPoolCreate";
    ze_result_t result;

    /* The event that the device signals when reports are ready. */
    memset(&pool, 0, sizeof pool);
    pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    pool.count = 1;
    memset(&event, 0, sizeof event);
    event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    ZT__INTERNAL(result = zeEventPoolCreate(stream->context, &pool, 1, &stream->device, &stream->event_pool));
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeEventCreate";
        ZT__INTERNAL(result = zeEventCreate(stream->event_pool, &event, &stream->event));
    }
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check(stream->diagnostics, result, call, "Free events or memory.");
    }

    result = zt__activate_group(stream->context, stream->device, &stream->data->group, 1, &holder);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, "zetContextActivateMetricGroups", &holder);
    }
    stream->is_activated = 1;

    /* The clock of the metrics, or else that of the device. Samples of instructions have no times. */
    if (!stream->is_of_instructions) {
        memset(&resolution, 0, sizeof resolution);
        memset(&properties, 0, sizeof properties);
        resolution.stype = RESOLUTION_STYPE;
        properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        properties.pNext = &resolution;
        result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
        if (stream->driver.zetMetricGroupGetGlobalTimestampsExp &&
            zetMetricGroupGetProperties(group, &properties) == ZE_RESULT_SUCCESS &&
            resolution.ticks_per_second) {
            zt__init_clock(clock, stream->device, group, resolution.ticks_per_second,
                           zt__mask_of_bits(resolution.valid_bits));
            result = zt__read_clocks(&stream->driver, clock, &pair);
        }
        if (result != ZE_RESULT_SUCCESS && !zt__means_device_loss(result)) {
            memset(&device, 0, sizeof device);
            device.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2; /* timerResolution is in ticks a second */
            ZT__INTERNAL(result = zeDeviceGetProperties(stream->device, &device));
            if (result != ZE_RESULT_SUCCESS) {
                return zt__check(stream->diagnostics, result, "zeDeviceGetProperties", "Update the driver.");
            }
            zt__init_clock(clock, stream->device, NULL, device.timerResolution,
                           zt__mask_of_bits(device.timestampValidBits));
            result = zt__read_clocks(&stream->driver, clock, &pair);
        }
        if (zt__means_device_loss(result)) {
            call = clock->group ? "zetMetricGroupGetGlobalTimestampsExp" : "zeDeviceGetGlobalTimestamps";
            return zt__check(stream->diagnostics, result, call, "");
        }
        if (result != ZE_RESULT_SUCCESS) {
            stream->time_metric = UINT32_MAX;
            clock->interval_ns = UINT64_MAX; /* later pairs would contradict the assumed times */
            pair.ns[ZT__DEVICE_CLOCK] = 0;
            pair.ns[ZT__HOST_CLOCK] = zt__now_ns();
            pair.error_ns = 0;
        }
        zt__add_clock_pair(clock, pair);
    }

    memset(&streamer, 0, sizeof streamer);
    streamer.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC;
    streamer.samplingPeriod = stream->config.period_ns;
    streamer.notifyEveryNReports = stream->config.notify_reports;
    result = zetMetricStreamerOpen(stream->context, stream->device, group, &streamer, stream->event,
                                   &stream->streamer);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report_stream_refusal(stream, result, "zetMetricStreamerOpen", NULL);
    }
    stream->info.period_ns = streamer.samplingPeriod ? streamer.samplingPeriod : stream->config.period_ns;
    stream->data->period_ns = stream->info.period_ns;
    stream->info.notify_reports = streamer.notifyEveryNReports;
    return zt__query_report_size(stream);
}

/* ---- from the device into the ring ----------------------------------------------------------------------- */

ZT__PRIVATE int zt__fill_ring(zt_stream *stream) {
    enum { MOST_READS = 4 };
    int more = 1, reads;
    for (reads = 0; more && reads < MOST_READS; reads++) {
        ze_result_t result = ZE_RESULT_SUCCESS;
        uint64_t place, free_reports, reports, now;
        size_t room, size;
        int is_misaligned, is_read, has_gap;
        if (zt__is_device_lost(stream->diagnostics)) {
            return 0;
        }
        if (!stream->report_size) {
            result = zt__query_report_size(stream);
        }
        if (result != ZE_RESULT_SUCCESS || !stream->report_size) {
            zt__store(&stream->failure, (int)result);
            return 0;
        }
        /* A read can end within a report, whose rest then comes first in the next read. After a failed
           calculation that need not hold: the partial report is discarded, and the next read is assumed to
           begin with a whole one. */
        is_misaligned = zt__load(&stream->is_misaligned);
        zt__lock(&stream->data->mutex);
        if (is_misaligned) {
            stream->counts.reports += stream->partial != 0;
            stream->counts.discarded += stream->partial != 0;
            stream->partial = 0;
            zt__store(&stream->is_misaligned, 0);
        }
        place = stream->written % stream->capacity;
        free_reports = stream->capacity - (stream->written - stream->calculated);
        zt__unlock(&stream->data->mutex);
        if (free_reports > stream->capacity - place) {
            free_reports = stream->capacity - place;
        }
        if (free_reports == 0) {
            zt__store(&stream->failure, (int)ZE_RESULT_SUCCESS);
            return 1;
        }
        size = room = (size_t)free_reports * stream->report_size - stream->partial;
        result =
            zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &size,
                                      stream->ring + (size_t)place * stream->report_size + stream->partial);
        if (result != ZE_RESULT_NOT_READY && size > room) {
            result = ZE_RESULT_ERROR_INVALID_SIZE;
        }
        is_read = result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA;
        if (!is_read && result != ZE_RESULT_NOT_READY) {
            zt__check(stream->diagnostics, result, "zetMetricStreamerReadData", "Update the driver.");
            zt__store(&stream->failure, (int)result);
            return 0;
        }
        /* Intel's driver may return UNKNOWN once for reports that the device dropped. */
        has_gap = result == ZE_RESULT_WARNING_DROPPED_DATA ||
                  zt__load(&stream->failure) == (int)ZE_RESULT_ERROR_UNKNOWN;
        zt__store(&stream->failure, (int)ZE_RESULT_SUCCESS);
        if (!is_read) {
            return 0;
        }
        more = size == room;
        reports = (stream->partial + size) / stream->report_size;
        stream->partial = (stream->partial + size) % stream->report_size;
        now = zt__now_ns();
        zt__lock(&stream->data->mutex);
        /* If the device dropped reports, those that it returns are valid all the same. The gap is then before
           one of them, or before the first of the next read. */
        if (has_gap) {
            stream->counts.gaps++;
            if (stream->gap_first == UINT64_MAX) {
                stream->gap_first = stream->written;
            }
            stream->gap_last = stream->written + reports;
            stream->gap_ns = now;
        }
        stream->written += reports;
        stream->written_ns = now;
        stream->counts.reports += reports;
        zt__unlock(&stream->data->mutex);
        if (has_gap && !stream->is_of_instructions) {
            zt__report(stream->diagnostics, STREAM_GAP, result);
        }
    }
    return more;
}

ZT__PRIVATE int zt__was_notified(zt_stream *stream) {
    const char *call = "zeEventQueryStatus";
    ze_result_t result;
    ZT__INTERNAL(result = zeEventQueryStatus(stream->event));
    if (result == ZE_RESULT_NOT_READY) {
        return 0;
    }
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeEventHostReset";
        ZT__INTERNAL(result = zeEventHostReset(stream->event));
    }
    return zt__check(stream->diagnostics, result, call, "Rows come later.") == ZE_RESULT_SUCCESS;
}
