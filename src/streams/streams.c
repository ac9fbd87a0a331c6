/* zt_stream_open, zt_stream_read, zt_stream_mark, zt_stream_close. */

#include "streams/streams.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/activation.h"
#include "metrics/driver.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "results/attribution.h"
#include "results/metrics.h"
#include "results/results.h"
#include "results/timeline.h"
#include "streams/rows.h"
#include "streams/stream.h"
#include "streams/streamer.h"

static zt_stream_config zt__complete_stream_config(const zt_stream_config *given) {
    enum { MOST_REPORTS = 1024 };
    zt_stream_config config;
    zt__copy_config(&config, given, sizeof config);
    if (!config.period_ns) {
        config.period_ns = 1000000;
    }
    if (!config.memory_limit) {
        config.memory_limit = (size_t)8 << 20;
    }
    if (!config.timeline_rows) {
        config.timeline_rows = 16384;
    }
    if (!config.notify_reports) { /* as many as come between two reads */
        uint32_t reports = ZT__STREAM_WAIT_NS / config.period_ns + 1;
        config.notify_reports = reports < MOST_REPORTS ? reports : (uint32_t)MOST_REPORTS;
    }
    if (!config.allocator.allocate) {
        config.allocator = zt__default_allocator;
    }
    return config;
}

ZT__PRIVATE zt_stream *zt__create_stream(ze_context_handle_t context, ze_device_handle_t device,
                                         const zt_stream_config *given) {
    zt_stream_config config = zt__complete_stream_config(given);
    zt_stream *stream;
    zt__stream_data *data;
    uint64_t seed[2];
    stream = (zt_stream *)zt__allocate(&config.allocator, 1, sizeof *stream);
    data = (zt__stream_data *)zt__allocate(&config.allocator, 1, sizeof *data);
    if (!stream || !data) {
        zt__free(&config.allocator, stream);
        zt__free(&config.allocator, data);
        return NULL;
    }
    zt__create_mutex(&data->mutex);
    data->allocator = config.allocator;
    data->owners = 1;
    stream->data = data;
    stream->process = zt__get_process();
    stream->context = context;
    stream->device = device;
    stream->config = config;
    stream->info.group = "";
    stream->own_diagnostics.mutex = &data->mutex;
    stream->own_diagnostics.log = config.log ? config.log : zt__default_log();
    stream->own_diagnostics.log_user = config.log_user;
    stream->diagnostics = &stream->own_diagnostics;
    stream->opened_by = "zt_stream_open";
    stream->time_metric = stream->length_metric = UINT32_MAX;
    stream->marker_metric = stream->reason_metric = UINT32_MAX;
    stream->marker_reason = stream->other_reason = zt__nan();
    stream->gap_first = UINT64_MAX;
    zt__create_mutex(&stream->reader.mutex);
    zt__load_driver(&stream->driver);
    /* The device also stores small numbers with another meaning in StreamMarker, so markers have large
       ones. */
    seed[0] = zt__now_ns();
    seed[1] = (uint64_t)(uintptr_t)stream;
    stream->marker_base = UINT32_C(0x40000000) + (uint32_t)(zt__hash(seed, sizeof seed) & 0x7fffffff);
    return stream;
}

/* ---- closing --------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__destroy_stream(zt_stream *stream) {
    zt_allocator allocator = stream->config.allocator;
    if (stream->streamer) {
        zt__check(stream->diagnostics, zetMetricStreamerClose(stream->streamer), "zetMetricStreamerClose",
                  "Update the driver.");
    }
    if (stream->is_activated) {
        zt__check(stream->diagnostics,
                  zt__deactivate_group(stream->context, stream->device, &stream->data->group),
                  "zetContextActivateMetricGroups", "Update the driver.");
    }
    if (stream->event) {
        ZT__INTERNAL(zeEventDestroy(stream->event));
    }
    if (stream->event_pool) {
        ZT__INTERNAL(zeEventPoolDestroy(stream->event_pool));
    }
    zt__free(&allocator, stream->ring);
    zt__free(&allocator, stream->values);
    zt__free(&allocator, stream->row);
    zt__lock(&stream->data->mutex);
    stream->data->is_open = 0;
    zt__unlock(&stream->data->mutex);
    /* The last samples need not wait for more rows. */
    zt__attribute_rows_of_stream(stream->data);
    zt__release_stream_data(stream->data);
    zt__destroy_mutex(&stream->reader.mutex);
    zt__free(&allocator, stream);
}

/* ---- public ---------------------------------------------------------------------------------------------- */

ZT_API ze_result_t zt_stream_open(ze_context_handle_t context, ze_device_handle_t device,
                                  const zt_stream_config *config, zt_stream **stream) {
    const char *call = "zt_stream_open";
    zt_profiler *profiler;
    zt_stream *opened;
    ze_result_t result;
    if (!stream) {
        return zt__report_null(NULL, call, "stream");
    }
    *stream = NULL;
    result = zt__check_opening(call, context, device, config ? &config->allocator : NULL);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    opened = zt__create_stream(context, device, config);
    if (!opened) {
        return zt__report_no_memory(NULL, call, "the stream");
    }
    profiler = opened->config.profiler;
    result = zt__check_process(opened->diagnostics, call);
    if (result == ZE_RESULT_SUCCESS && profiler && !profiler->timeline) {
        result = zt__report(opened->diagnostics, NO_TIMELINE, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__find_stream_group(opened);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__load_stream_metrics(opened);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__make_room_for_rows(opened);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__open_streamer(opened);
    }
    if (result == ZE_RESULT_SUCCESS && opened->config.thread &&
        !zt__start_thread(&opened->thread, zt__run_reader_thread, opened)) {
#ifdef ZETOOLS_NO_THREADS
        result = zt__report(opened->diagnostics, NO_READER, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "ZETOOLS_NO_THREADS is defined");
#else
        result = zt__report(opened->diagnostics, NO_READER, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            "the system starts no thread");
#endif
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__keep_error(opened->diagnostics, result);
        zt__destroy_stream(opened);
        return result;
    }
    if (profiler) {
        zt__stream_data **place = &profiler->attached_streams, *data = opened->data;
        data->profiler = profiler; /* no mutex, because no other thread uses these yet */
        data->is_open = 1;
        data->owners++;
        zt__lock(&profiler->mutex);
        data->first_streamed = profiler->streamed_count;
        profiler->streamed_count += data->group.metric_count;
        while (*place) {
            place = &(*place)->next;
        }
        zt__store(place, data);
        zt__unlock(&profiler->mutex);
    }
    *stream = opened;
    return result;
}

ZT_API ze_result_t zt_stream_read(zt_stream *stream, uint64_t timeout_ns, zt_row_fn function, void *user) {
    zt__receiver receiver = {function, user, 0, 0};
    uint64_t deadline = zt__deadline(timeout_ns);
    ze_result_t result = ZE_RESULT_NOT_READY;
    int is_locked, reads_device;
    if (!stream) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_owner(&stream->reader)) {
        return zt__report(stream->diagnostics, STREAM_BUSY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_stream_read");
    }
    zt__add(&stream->users, 1);
    is_locked = zt__lock_until(&stream->reader, deadline);
    reads_device = !zt__load(&stream->thread.running);
    while (is_locked) {
        uint64_t read_again_ns = zt__deadline(ZT__STREAM_WAIT_NS), written;
        zt__wait wait = zt__wait_until(deadline < read_again_ns ? deadline : read_again_ns);
        int failure, has_news = 0;
        zt__deliver_all(stream, &receiver, reads_device);
        failure = zt__load(&stream->failure);
        if (receiver.row_count) {
            result = ZE_RESULT_SUCCESS;
        } else if (zt__load(&stream->is_closing)) {
            result = ZE_RESULT_ERROR_NOT_AVAILABLE;
        } else if (zt__is_device_lost(stream->diagnostics)) {
            result = ZE_RESULT_ERROR_DEVICE_LOST;
        } else if (failure) {
            result = (ze_result_t)failure;
        }
        if (result != ZE_RESULT_NOT_READY || zt__now_ns() >= deadline) {
            break;
        }
        /* The device does not signal its event for every report, so it is read again after a while. */
        while (!has_news && !zt__load(&stream->is_closing) && zt__wait_again(&wait)) {
            zt__lock(&stream->data->mutex);
            written = stream->written;
            zt__unlock(&stream->data->mutex);
            has_news = reads_device ? zt__was_notified(stream) : stream->calculated < written;
        }
    }
    if (is_locked) {
        zt__unlock_timed(&stream->reader);
    }
    zt__add(&stream->users, UINT32_MAX); /* one less */
    return result;
}

ZT_API ze_result_t zt_stream_mark(zt_stream *stream, ze_command_list_handle_t list, const char *name) {
    const char *call = "zetCommandListAppendMetricStreamerMarker";
    zt__stream_data *data;
    zt__marker *marker, *made = NULL;
    size_t length;
    if (!stream) {
        return ZE_RESULT_SUCCESS;
    }
    if (!list) {
        return zt__report_null_handle(stream->diagnostics, "zt_stream_mark", "list");
    }
    name = zt__shown_name(name);
    if (stream->marker_metric == UINT32_MAX) {
        return zt__report(stream->diagnostics, CANNOT_MARK, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, name,
                          "the group has no metric StreamMarker. Choose another group");
    }
    data = stream->data;
    length = strlen(name);
    zt__lock(&data->mutex);
    marker = (zt__marker *)zt__map_find(&data->marker_names, name, length);
    zt__unlock(&data->mutex);
    if (!marker) {
        made = (zt__marker *)zt__allocate(&data->allocator, 1, sizeof *made + length + 1);
    }
    if (made) {
        made->name = (const char *)memcpy(made + 1, name, length + 1);
        zt__lock(&data->mutex);
        if (zt__map_make_room(&data->marker_names, &data->allocator, &data->mutex)) {
            marker = (zt__marker *)zt__map_find(&data->marker_names, name, length); /* added meanwhile */
            if (!marker && data->marker_count < ZT__MAX_MARKERS) {
                marker = made;
                made = NULL;
                marker->index = data->marker_count;
                data->markers[data->marker_count++] = marker;
                zt__map_add(&data->marker_names, marker->name, length, marker);
            }
        }
        zt__unlock(&data->mutex);
        zt__free(&data->allocator, made);
    }
    if (!marker) {
        return zt__report(stream->diagnostics, CANNOT_MARK, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, name,
                          "too many names, or no memory. Do not put numbers that change into names");
    }
    return zt__check(
        stream->diagnostics,
        zetCommandListAppendMetricStreamerMarker(list, stream->streamer, stream->marker_base + marker->index),
        call, "The list has no marker.");
}

static zt_stream_counts zt__count_reports(const zt_stream *stream) {
    zt_stream_counts counts;
    zt__lock(&stream->data->mutex);
    counts = stream->counts;
    counts.waiting = stream->written - stream->calculated + (stream->row_count - stream->row_next);
    zt__unlock(&stream->data->mutex);
    return counts;
}

ZT_API ze_result_t zt_stream_close(zt_stream *stream, zt_row_fn function, void *user,
                                   zt_stream_counts *counts) {
    enum { LONGEST_S = 10 };
    const char *call = "zt_stream_close";
    zt__receiver receiver = {function, user, 0, 0};
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_S * UINT64_C(1000000000)));
    zt_stream_counts last;
    int is_inside;
    if (counts) {
        memset(counts, 0, sizeof *counts);
    }
    /* In a forked child, threads that do not exist there may hold the locks. */
    if (!stream || stream->process != zt__find_process()) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_log(stream->diagnostics, call)) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    is_inside = zt__is_owner(&stream->reader);
    if (!is_inside) {
        zt__store(&stream->is_closing, 1); /* ends reads that wait */
        while (zt__load(&stream->users) && zt__wait_again(&wait)) {
        }
    }
    if (is_inside || zt__load(&stream->users)) {
        return zt__report(stream->diagnostics, STREAM_BUSY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    if (!zt__stop_thread(&stream->thread)) {
        return zt__report(stream->diagnostics, THREAD_HANGS, ZE_RESULT_NOT_READY, call);
    }
    zt__try_lock(&stream->reader); /* no other thread uses it, but `function` may call zt_stream_read */
    zt__deliver_all(stream, &receiver, 1);
    zt__unlock_timed(&stream->reader);
    last = zt__count_reports(stream);
    last.discarded += last.waiting; /* `function` stopped early */
    last.waiting = 0;
    last.lost_markers += stream->pending_marker != NULL;
    if (counts) {
        *counts = last;
    }
    zt__destroy_stream(stream);
    return ZE_RESULT_SUCCESS;
}

ZT_API zt_stream_info zt_stream_get_info(const zt_stream *stream) {
    zt_stream_info info;
    memset(&info, 0, sizeof info);
    info.group = info.error = "";
    if (stream) {
        info = stream->info;
        info.metric_count = stream->data->group.metric_count;
        info.metrics = stream->data->metrics;
        info.thread_cpu_ns = zt__load(&stream->reader_cpu_ns);
        info.counts = zt__count_reports(stream);
        info.error = zt__get_last_error(stream->diagnostics);
    }
    return info;
}

ZT_API uint32_t zt_stream_find_metric(const zt_stream *stream, const char *name) {
    if (!stream || !name) {
        return UINT32_MAX;
    }
    return zt__find_metric(stream->diagnostics, "zt_stream_find_metric", stream->data->metrics,
                           zt__name_of_metric, stream->data->group.metric_count, name, NULL);
}
