/* A timeline of one minute, without waiting for it: a test looks at the size of its trace, and a benchmark at
   the time that writing takes. After zetools.h with ZETOOLS_IMPLEMENTATION, because it fills the library's
   memory. */
#ifndef TESTS_A_MINUTE_H
#define TESTS_A_MINUTE_H

enum { A_MINUTE_REGIONS = 10000, A_MINUTE_ROWS = 600000, A_MINUTE_PERIOD_NS = 100000 };

static uint32_t a_minute_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Rows of an attached stream, from a time of the host on. Noise is in all metrics of each row; without it,
   only metric 0 is not always the same. */
static void a_minute_of_rows(zt_stream *stream, uint64_t begin_ns, int is_noisy) {
    double values[256] = {0};
    uint32_t state = 1, metrics = zt_stream_get_info(stream).metric_count;
    for (uint32_t i = 0; i < A_MINUTE_ROWS; i++) {
        zt__kept_row row = {begin_ns, begin_ns + A_MINUTE_PERIOD_NS, NULL, 0};
        for (uint32_t m = 0; m < metrics; m++)
            values[m] = is_noisy ? a_minute_random(&state) % 100000 / 1000.0 : m == 0 ? i : 50;
        zt__keep_row(stream->data, &row, values);
        begin_ns = row.end_ns;
    }
}

/* Samples of the profiler's first region on one list, each beside sixty rows. */
static void a_minute_of_samples(zt_profiler *profiler, ze_command_list_handle_t handle, uint64_t begin_ns) {
    zt__path path;
    zt__reading reading;
    double row[256];
    uint32_t state = 1;
    memset(&path, 0, sizeof path);
    memset(&reading, 0, sizeof reading);
    profiler->batch.pass = &profiler->passes[0];
    reading.path = &path;
    reading.region = profiler->regions[0];
    reading.origin.appended_by = reading.origin.submitted_by = zt__get_thread_number();
    reading.origin.append_ns = 20000;
    reading.knows_execution = 1;
    for (uint32_t i = 0; i < A_MINUTE_REGIONS; i++) {
        zt__timeline *timeline = profiler->timeline;
        uint64_t at_ns = begin_ns + (uint64_t)i * A_MINUTE_ROWS / A_MINUTE_REGIONS * A_MINUTE_PERIOD_NS;
        uint64_t device_ns = zt__convert_time(&timeline->clock, at_ns, ZT__HOST_CLOCK, ZT__DEVICE_CLOCK);
        for (uint32_t c = 0; c < profiler->layout.column_count; c++)
            row[c] = a_minute_random(&state) / 1000.0;
        reading.times.list = handle;
        reading.times.begin_ticks = (uint64_t)((double)device_ns / profiler->ns_per_tick);
        reading.times.end_ticks = (uint64_t)((double)(device_ns + 1000000) / profiler->ns_per_tick);
        reading.times.not_before_ns = at_ns - 30000;
        reading.times.not_after_ns = at_ns + 2000000;
        zt__lock(&profiler->mutex);
        zt__keep_sample(profiler, &reading, row);
        zt__unlock(&profiler->mutex);
    }
}

#endif
