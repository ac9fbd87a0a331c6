#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

zt_stream_config stream_config_of(world *w) {
    zt_stream_config config = {0};
    config.log = config_of(w).log;
    config.log_user = w;
    return config;
}

static zt_stream *open_streams[8];

static void replace_stream(const zt_stream *old, zt_stream *by) {
    for (int i = 0; i < 8; i++) {
        if (open_streams[i] != old)
            continue;
        open_streams[i] = by;
        return;
    }
}

int close_streams(void **state) {
    gpu.restore_device();
    for (int i = 0; i < 8; i++) {
        if (open_streams[i])
            zt_stream_close(open_streams[i], NULL, NULL, NULL);
        open_streams[i] = NULL;
    }
    return close_world(state);
}

zt_stream *open_stream_with(world *w, const zt_stream_config *config) {
    zt_stream *stream = NULL;
    const char *text = "";
    ze_result_t result = zt_stream_open(w->context, w->device, config, &stream);
    if (result != ZE_RESULT_SUCCESS)
        text = zt_last_error(NULL);
    if (result != ZE_RESULT_SUCCESS)
        fail_msg("%s", text);
    assert_non_null(stream);
    replace_stream(NULL, stream);
    return stream;
}

zt_stream *open_rows(world *w, uint32_t period_ns) {
    zt_stream_config config = stream_config_of(w);
    config.period_ns = period_ns;
    return open_stream_with(w, &config);
}

rows *rows_of(const zt_stream *stream) {
    static rows kept;
    kept.stream = stream;
    kept.count = kept.stop_at = 0;
    return &kept;
}

static double value_of(const rows *to, const zt_row *row, const char *name) {
    const zt_metric *metrics = zt_stream_get_info(to->stream).metrics;
    for (uint32_t i = 0; i < row->metric_count; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return row->values[i];
    return (double)NAN;
}

int keep_row(const zt_row *row, void *user) {
    rows *to = (rows *)user;
    kept_row *kept = &to->kept[to->count];
    if (to->count == MOST_ROWS)
        return 1;
    to->count++;
    kept->time_ns = row->time_ns;
    kept->device_ns = row->device_ns;
    kept->length_ns = row->length_ns;
    kept->gap = row->gap;
    kept->id = value_of(to, row, "ReportId");
    kept->groups = value_of(to, row, "GPGPU_THREADGROUP_COUNT");
    kept->gpu_time = value_of(to, row, "GpuTime");
    kept->busy = value_of(to, row, "GPU_BUSY");
    snprintf(kept->marker, sizeof kept->marker, "%s", row->marker ? row->marker : "");
    return to->count == to->stop_at;
}

void read_rows(zt_stream *stream, rows *kept, uint32_t count) {
    uint64_t limit = now_ns() + A_WHILE;
    while (kept->count < count && now_ns() < limit)
        ok(zt_stream_read(stream, A_WHILE, keep_row, kept));
    assert_true(kept->count >= count);
    check_stream_counts(zt_stream_get_info(stream).counts);
}

void mark_now(world *w, zt_stream *stream, const char *name) {
    ok(zt_stream_mark(stream, w->immediate, name));
}

void check_stream_counts(zt_stream_counts counts) {
    assert_int_equal(counts.reports, counts.rows + counts.discarded + counts.waiting);
}

zt_stream_counts close_rows(zt_stream *stream, rows *kept) {
    replace_stream(stream, NULL);
    zt_stream_counts counts = end_stream(stream, kept ? keep_row : NULL, kept);
    check_stream_counts(counts);
    assert_int_equal(counts.waiting, 0);
    return counts;
}

void check_rows(const rows *kept) {
    for (uint32_t i = 1; i < kept->count; i++) {
        const kept_row *row = &kept->kept[i], *before = row - 1;
        assert_true(row->time_ns >= before->time_ns);
        assert_true(row->device_ns > before->device_ns);
        assert_true(row->id == before->id + 1);
        assert_true(row->gpu_time <= (double)(now_ns() - kept->kept[0].time_ns));
    }
}

double groups_in_rows(const rows *kept) {
    double groups = 0;
    for (uint32_t i = 0; i < kept->count; i++)
        groups += kept->kept[i].groups;
    return groups;
}

uint32_t gaps_in_rows(const rows *kept) {
    uint32_t gaps = 0;
    for (uint32_t i = 0; i < kept->count; i++)
        gaps += kept->kept[i].gap != 0;
    return gaps;
}

void check_rows_join(const rows *kept, int exact) {
    for (uint32_t i = 1; i < kept->count; i++) {
        const kept_row *row = &kept->kept[i], *before = row - 1;
        uint64_t end = before->device_ns + before->length_ns;
        uint64_t apart = row->device_ns > end ? row->device_ns - end : end - row->device_ns;
        assert_true(apart <= (exact ? 0 : 2000));
    }
}
