/* Streams: rows from the first to the last, whatever the driver is like; what is lost is counted; bad input.
 */
#define _GNU_SOURCE
#include "rows.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD 1000000u

static void launch_some(world *w, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        launch(w, w->immediate);
    finish_immediate(w, w->immediate);
}

static void mark_often(world *w, zt_stream *stream, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        mark_now(w, stream, "mark");
    finish_immediate(w, w->immediate);
}

/* ==== rows ================================================================================================ */

static void test_rows_come_and_join(void **state) {
    world *w = (world *)*state;
    uint64_t opened = now_ns();
    gpu.behave(SOFTGPU_MISSED_MOMENTS_UNTOLD, 1);
    zt_stream *stream = open_rows(w, PERIOD);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 10);
    check_rows(kept);
    for (uint32_t i = 0; i < kept->count; i++) {
        assert_true(kept->kept[i].time_ns >= opened);
        assert_true(kept->kept[i].time_ns <= now_ns());
    }
    zt_stream_counts counts = close_rows(stream, kept);
    assert_int_equal(counts.rows, kept->count);
    assert_int_equal(counts.discarded, 1); /* the first */
    assert_int_equal(counts.gaps, 0);
    assert_int_equal(counts.dropped, 0);
    check_rows(kept);
}

static void test_work_is_measured(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, PERIOD);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 1);
    launch_some(w, 40);
    mark_often(w, stream, 1);
    close_rows(stream, kept); /* reads what is left */
    assert_true(groups_in_rows(kept) == 40.0 * WORK_GROUPS);
    check_work(w);
}

static void test_metrics_are_told(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, PERIOD);
    const char *text;
    uint32_t busy = zt_stream_find_metric(stream, "GPU_BUSY");
    assert_true(zt_stream_get_info(stream).metric_count > 20);
    assert_string_equal(zt_stream_get_info(stream).metrics[busy].units, "percent");
    assert_string_equal(zt_stream_get_info(stream).metrics[busy].group, "ComputeBasic");
    assert_int_equal(zt_stream_get_info(stream).metrics[busy].aggregation, ZT_AGGREGATE_MEAN);
    assert_int_equal(zt_stream_find_metric(stream, "GPU_BUZY"), UINT32_MAX);
    text = zt_stream_get_info(stream).error;
    assert_contains(text, "GPU_BUSY");
    assert_string_equal(zt_stream_get_info(stream).group, "ComputeBasic");
    close_rows(stream, NULL);
}

/* F23 */
static void test_what_the_driver_made_of_the_pace(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    config.period_ns = 1000000;
    config.notify_reports = 100;
    zt_stream *stream = open_stream_with(w, &config);
    assert_int_equal(zt_stream_get_info(stream).period_ns, 1000000);
    assert_int_equal(zt_stream_get_info(stream).notify_reports, 100);
    close_rows(stream, NULL);
    gpu.behave(SOFTGPU_STREAMER_ROUNDS, 1);
    stream = open_stream_with(w, &config);
    assert_int_equal(zt_stream_get_info(stream).period_ns, 851968);
    assert_int_equal(zt_stream_get_info(stream).notify_reports, 113);
    close_rows(stream, NULL);
}

/* The notification wakes a read that waits, long before the end of a period. */
static void test_notification_of_markers(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    config.period_ns = SLOW_PERIOD;
    config.notify_reports = 4;
    zt_stream *stream = open_stream_with(w, &config);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 4);
    read_rows(stream, kept, 3);
    mark_often(w, stream, 4);
    read_rows(stream, kept, 7);
    check_rows(kept);
    close_rows(stream, NULL);
}

/* F22: the size that the driver answers is what could be there, and not what is. */
static void test_capacity_is_not_availability(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STREAMER_IGNORES_MAXIMUM, 1);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    assert_result(zt_stream_read(stream, 0, keep_row, kept), ZE_RESULT_NOT_READY);
    mark_often(w, stream, 5);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    assert_int_equal(kept->count, 4);
    check_rows(kept);
    assert_int_equal(close_rows(stream, NULL).reports, 5);
}

/* F24: one row less from the first calculation of all; a first row of a later capture that spans from the
   capture before. Neither is seen. */
static void test_state_of_the_calculation(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, 1);
    gpu.behave(SOFTGPU_STREAMER_IGNORES_MAXIMUM, 1);
    for (uint32_t capture = 0; capture < 3; capture++) {
        zt_stream *stream = open_rows(w, SLOW_PERIOD);
        rows *kept = rows_of(stream);
        mark_often(w, stream, 3);
        ok(zt_stream_read(stream, 0, keep_row, kept));
        assert_int_equal(kept->count, 2);
        mark_often(w, stream, 3);
        zt_stream_counts counts = close_rows(stream, kept);
        assert_int_equal(kept->count, 5);
        assert_int_equal(counts.reports, 6);
        assert_int_equal(counts.discarded, 1);
        assert_true(groups_in_rows(kept) == 0);
        check_rows(kept);
        launch_some(w, 50); /* between captures */
    }
    check_work(w);
}

/* A capture of which each report is read alone: the first gives nothing, each further one a row. */
static void test_state_with_single_reports(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, 1);
    for (uint32_t capture = 0; capture < 2; capture++) {
        zt_stream *stream = open_rows(w, SLOW_PERIOD);
        rows *kept = rows_of(stream);
        for (uint32_t i = 0; i < 4; i++) {
            mark_often(w, stream, 1);
            zt_stream_read(stream, 0, keep_row, kept);
            assert_int_equal(kept->count, i);
        }
        close_rows(stream, NULL);
    }
}

static void test_partial_reports(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STREAMER_SPLITS_REPORTS, 1);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 1);
    for (uint32_t i = 0; i < 20; i++) {
        mark_often(w, stream, 1 + i % 3);
        zt_stream_read(stream, 0, keep_row, kept);
    }
    zt_stream_counts counts = close_rows(stream, kept);
    check_rows(kept);
    assert_true(kept->count >= 35);
    assert_int_equal(counts.discarded, 1);
}

/* The rest of a report never comes: the next read begins with a report of its own. What lies between is lost,
   and counted. */
static void test_partial_report_without_its_rest(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 1);
    zt_stream_read(stream, 0, keep_row, kept);
    gpu.behave(SOFTGPU_STREAMER_SPLITS_REPORTS, 1);
    mark_often(w, stream, 4);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    gpu.behave(SOFTGPU_STREAMER_SPLITS_REPORTS, 0);
    mark_often(w, stream, 4);
    zt_stream_read(stream, 0, keep_row, kept);
    assert_int_equal(heard(w, "NOT_CALCULATED"), 1);
    uint32_t before = kept->count;
    mark_often(w, stream, 4);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    assert_true(kept->count >= before + 4);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_true(counts.discarded >= 5);
    for (uint32_t i = 1; i < kept->count; i++)
        assert_true(kept->kept[i].id > kept->kept[i - 1].id);
}

/* Makes more reports than the device keeps. Returns how many rows there are before the gap. */
static uint32_t overflow(world *w, zt_stream *stream, rows *kept) {
    mark_often(w, stream, 2);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    mark_often(w, stream, 6000);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    return kept->count;
}

/* F22: what the device dropped is counted, what it kept is kept. */
static void test_overflow(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    uint32_t before = overflow(w, stream, kept);
    assert_true(before >= 4500 && before < 6000);
    check_rows(kept);
    mark_often(w, stream, 3);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_int_equal(counts.gaps, 1);
    assert_int_equal(gaps_in_rows(kept), 1);
    assert_int_equal(counts.rows, kept->count);
    assert_true(kept->count >= before + 3);
    assert_true(kept->kept[before].id > kept->kept[before - 1].id + 1); /* the gap */
    assert_int_equal(heard(w, "STREAM_GAP"), 1);
}

static double missing_reports(const rows *kept) {
    double missing = 0;
    for (uint32_t i = 1; i < kept->count; i++) {
        double before_row = kept->kept[i].id - kept->kept[i - 1].id - 1;
        assert_true(before_row == 0 || kept->kept[i].gap);
        missing += before_row;
    }
    return missing;
}

/* A read fails once, and the next has the rows: those that are missing are a gap all the same. */
static void test_overflow_that_fails_a_read(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    gpu.behave(SOFTGPU_STREAMER_UNKNOWN, 1);
    mark_often(w, stream, 2);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    mark_often(w, stream, 6000);
    assert_result(zt_stream_read(stream, 0, keep_row, kept), ZE_RESULT_ERROR_UNKNOWN);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    uint32_t before = kept->count;
    assert_true(before >= 4500 && before < 6000);
    mark_often(w, stream, 3);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_int_equal(counts.gaps, 1);
    assert_true(kept->count >= before + 3);
    assert_true(missing_reports(kept) > 0);
    assert_int_equal(heard(w, "STREAM_GAP"), 1);
}

/* By the clock, the time that a gap lasted tells how many reports are missing. */
static void test_gap_is_estimated(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, 20000);
    rows *kept = rows_of(stream);
    double missing = 0;
    uint64_t limit = now_ns() + A_WHILE;
    read_rows(stream, kept, 1);
    for (int naps = 200; missing == 0 && now_ns() < limit; naps *= 2) {
        kept->count = 0;
        for (int i = 0; i < naps; i++)
            nap();
        ok(zt_stream_read(stream, A_WHILE, keep_row, kept));
        read_rows(stream, kept, kept->count + 2);
        missing = missing_reports(kept);
    }
    zt_stream_counts counts = close_rows(stream, NULL);
    assert_true(counts.gaps >= 1);
    assert_true(missing > 0);
    assert_true((double)(counts.dropped + counts.gaps) >= missing);
}

/* Without a clock, a row ends a period after the one before. It does so at a gap, too, which is long over by the
   time that is assumed: the periods are longer than the rows. */
static void test_gap_without_a_clock(void **state) {
    world *w = (world *)*state;
    inject("zetMetricGroupGetGlobalTimestampsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    inject("zeDeviceGetGlobalTimestamps", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    uint64_t period = zt_stream_get_info(stream).period_ns;
    rows *kept = rows_of(stream);
    uint32_t before = overflow(w, stream, kept);
    mark_often(w, stream, 3);
    close_rows(stream, kept);
    assert_int_equal(gaps_in_rows(kept), 1);
    assert_true(kept->count > before && kept->kept[before].gap);
    for (uint32_t i = 1; i < kept->count; i++) {
        const kept_row *row = &kept->kept[i], *last = row - 1;
        assert_true(row->device_ns + row->length_ns == last->device_ns + last->length_ns + period);
        assert_true(row->time_ns > last->time_ns);
    }
}

/* A driver's row spans from the last report that it calculated, whatever is missing between: its length says
   so. */
static void test_rows_that_span_a_gap(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, 1);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    uint32_t before = overflow(w, stream, kept);
    for (int i = 0; i < 50; i++)
        nap();
    mark_often(w, stream, 3);
    close_rows(stream, kept);
    assert_int_equal(gaps_in_rows(kept), 1);
    assert_true(kept->kept[before].gap);
    assert_true(kept->kept[before].length_ns > 50000000);
    for (uint32_t i = 0; i < kept->count; i++)
        assert_true((double)kept->kept[i].length_ns == kept->kept[i].gpu_time);
    check_rows_join(kept, 1);
}

/* After a calculation that failed, the next row has the sign of a gap, and the length that it really has. */
static void test_rows_after_a_failed_calculation(void **state) {
    world *w = (world *)*state;
    for (uint32_t keeps_state = 0; keeps_state < 2; keeps_state++) {
        gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, keeps_state);
        zt_stream *stream = open_rows(w, SLOW_PERIOD);
        rows *kept = rows_of(stream);
        mark_often(w, stream, 4);
        ok(zt_stream_read(stream, 0, keep_row, kept));
        uint32_t before = kept->count;
        for (int i = 0; i < 20; i++)
            nap();
        uint64_t rested = now_ns();
        mark_often(w, stream, 5);
        inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
        assert_result(zt_stream_read(stream, 0, keep_row, kept), ZE_RESULT_NOT_READY);
        mark_often(w, stream, 4);
        zt_stream_counts counts = close_rows(stream, kept);
        assert_int_equal(counts.discarded, 1 + 5);
        assert_int_equal(kept->count, before + 4);
        assert_int_equal(gaps_in_rows(kept), 1);
        assert_true(kept->kept[before].gap);
        if (keeps_state) /* from before the rest, or from the last mark before */
            assert_true(kept->kept[before].length_ns > 20000000);
        else
            assert_true(kept->kept[before].length_ns <= now_ns() - rested);
        for (uint32_t i = 0; i < kept->count; i++)
            assert_true((double)kept->kept[i].length_ns == kept->kept[i].gpu_time);
    }
}

/* The time stamp of a row is the end of its period. */
static void test_period_of_a_row(void **state) {
    enum { SLACK_NS = 5000000, NAPS = 50 };
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 1);
    mark_often(w, stream, 1);
    uint64_t begun = now_ns();
    for (int i = 0; i < NAPS; i++)
        nap();
    uint64_t marked = now_ns();
    mark_often(w, stream, 1);
    uint64_t done = now_ns();
    close_rows(stream, kept);
    const kept_row *row = &kept->kept[kept->count - 1];
    assert_string_equal(row->marker, "mark");
    assert_true(row->time_ns <= begun + SLACK_NS);
    assert_true(row->time_ns + row->length_ns + SLACK_NS >= marked);
    assert_true(row->time_ns + row->length_ns <= done + SLACK_NS);
    check_rows_join(kept, 1);
}

/* A stream whose first row is shortly before the device's clock starts again from 0. */
static zt_stream *open_before_a_wrap(world *w, uint32_t bits, uint64_t ticks_per_second) {
    uint64_t ticks = (uint64_t)1 << bits;
    for (uint64_t margin = ticks_per_second / 8;; margin *= 2) {
        gpu.set_timestamps(bits, ticks_per_second);
        gpu.set_clock(ticks - margin);
        zt_stream *stream = open_rows(w, PERIOD);
        rows *kept = rows_of(stream);
        read_rows(stream, kept, 1);
        double first = (double)kept->kept[0].device_ns, turn = (double)ticks * 1e9 / (double)ticks_per_second;
        if (first < turn && first > turn / 2)
            return stream;
        close_rows(stream, NULL); /* that took too long */
        assert_true(margin < ticks / 4);
    }
}

static void run_through_a_wrap(world *w, uint32_t bits, uint64_t ticks_per_second) {
    uint64_t boundary = (uint64_t)((double)((uint64_t)1 << bits) * 1e9 / (double)ticks_per_second);
    uint64_t opened = now_ns(), limit = opened + A_WHILE;
    zt_stream *stream = open_before_a_wrap(w, bits, ticks_per_second);
    rows *kept = rows_of(stream);
    do
        read_rows(stream, kept, kept->count + 1);
    while (kept->kept[kept->count - 1].device_ns < boundary + 5000000 && now_ns() < limit);
    check_rows(kept);
    const kept_row *first = &kept->kept[0], *last = &kept->kept[kept->count - 1];
    assert_true(last->device_ns > boundary);
    assert_true(first->time_ns + 1000000 >= opened);
    assert_true(last->time_ns <= now_ns());
    assert_true((double)(last->time_ns - first->time_ns) >
                0.9 * (double)(last->device_ns - first->device_ns) - 1000000);
    close_rows(stream, NULL);
}

static void test_times_are_unwrapped(void **state) {
    world *w = (world *)*state;
    run_through_a_wrap(w, 32, 1000000000);
    run_through_a_wrap(w, 32, 12500000);
    run_through_a_wrap(w, 36, 19200000);
}

/* Of 56 bits, as real ones: more than a double has. Loaders before zetMetricGroupGetGlobalTimestampsExp
   cannot tell that metrics have a clock of their own: lengths and host times are right all the same. */
static void test_long_time_stamps(void **state) {
    world *w = (world *)*state;
    const uint64_t turn = UINT64_C(1) << 56;
    int is_told = dlsym(RTLD_DEFAULT, "zetMetricGroupGetGlobalTimestampsExp") != NULL;
    uint64_t opened = now_ns(), limit = opened + A_WHILE;
    zt_stream *stream = NULL;
    rows *kept = NULL;
    for (uint64_t margin = 300000000; !kept; margin *= 2) {
        gpu.set_metric_clock(56, turn - margin);
        stream = open_rows(w, PERIOD);
        kept = rows_of(stream);
        read_rows(stream, kept, 1);
        if (is_told && kept->kept[0].device_ns >= turn) { /* that took too long */
            assert_true(now_ns() < limit);
            close_rows(stream, NULL);
            kept = NULL;
        }
    }
    uint64_t begun = now_ns();
    while (is_told ? kept->kept[kept->count - 1].device_ns <= turn && now_ns() < limit
                   : now_ns() < begun + 400000000)
        read_rows(stream, kept, kept->count + 1);
    for (uint32_t i = 0; i < kept->count; i++) {
        const kept_row *row = &kept->kept[i];
        assert_true(row->time_ns + 1000000000 >= opened && row->time_ns <= now_ns());
        assert_true(!is_told || (double)row->length_ns == row->gpu_time);
    }
    check_rows(kept);
    if (is_told) {
        assert_true(kept->kept[0].device_ns < turn);
        assert_true(kept->kept[kept->count - 1].device_ns > turn);
        check_rows_join(kept, 1);
    }
    close_rows(stream, NULL);
}

/* Several rows within a tick of the clock. */
static void test_equal_time_stamps(void **state) {
    world *w = (world *)*state;
    gpu.set_timestamps(32, 1000);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    uint64_t before = now_ns();
    mark_often(w, stream, 100);
    close_rows(stream, kept);
    assert_true(kept->count >= 99);
    uint64_t lasted = now_ns() - before;
    const kept_row *first = &kept->kept[0], *last = &kept->kept[kept->count - 1];
    assert_true(last->device_ns + last->length_ns - first->device_ns <= lasted + 2000000);
    assert_true(last->time_ns - first->time_ns <= lasted + 2000000);
    uint64_t ticked = last->device_ns + last->length_ns - first->device_ns - first->length_ns;
    assert_int_equal(ticked % 1000000, 0); /* periods end at ticks of the clock */
}

static void set_clock_back(world *w, uint64_t ticks) {
    uint64_t host, device;
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &device));
    gpu.set_clock(device - ticks);
}

/* A time stamp a little before the last one is not one of the clock's next turn. */
static void test_time_stamps_that_step_back(void **state) {
    world *w = (world *)*state;
    const uint32_t bits[] = {32, 56, 64};
    for (int b = 0; b < 3; b++) {
        gpu.set_timestamps(bits[b], 1000000000);
        gpu.set_clock(1000000000);
        uint64_t before = now_ns();
        zt_stream *stream = open_rows(w, PERIOD);
        rows *kept = rows_of(stream);
        read_rows(stream, kept, 3);
        set_clock_back(w, 3000000);
        mark_often(w, stream, 2);
        read_rows(stream, kept, kept->count + 10);
        set_clock_back(w, 3000000);
        read_rows(stream, kept, kept->count + 10);
        uint64_t lasted = now_ns() - before;
        close_rows(stream, NULL);
        const kept_row *first = &kept->kept[0], *last = &kept->kept[kept->count - 1];
        assert_true(last->device_ns - first->device_ns <= lasted + 2000000);
        assert_true(last->device_ns > first->device_ns); /* and it goes on */
    }
}

/* Read so late that the clock could have turned: but nothing was dropped, and no period is as long. */
static void test_step_back_that_is_read_late(void **state) {
    const uint64_t late_ns = 5000000000;
    world *w = (world *)*state;
    uint64_t host, ticks;
    gpu.set_timestamps(32, 1000000000);
    gpu.set_clock(1000000000);
    uint64_t before = now_ns();
    zt_stream *stream = open_rows(w, 3000000000u);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 5);
    read_rows(stream, kept, 3);
    set_clock_back(w, 3000000);
    mark_now(w, stream, "back");
    finish_immediate(w, w->immediate);
    uint64_t lasted = now_ns() - before;
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    pass_time(late_ns);
    gpu.set_clock(ticks + late_ns);
    for (uint32_t i = 0;; i++) { /* up to the row of the marker */
        if (i == kept->count)
            read_rows(stream, kept, i + 1);
        const kept_row *row = &kept->kept[i];
        assert_true(row->device_ns + row->length_ns <= 1000000000 + lasted + 2000000);
        if (strcmp(row->marker, "back") == 0)
            break;
    }
    close_rows(stream, NULL);
}

/* Where the clock of the metrics cannot be read, it is the device's. */
static void test_clock_of_older_drivers(void **state) {
    world *w = (world *)*state;
    uint64_t host, ticks;
    gpu.set_timestamps(36, 1000000000);
    gpu.set_clock(30000000000);
    inject("zetMetricGroupGetGlobalTimestampsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    ok(zeDeviceGetGlobalTimestamps(w->device, &host, &ticks));
    zt_stream *stream = open_rows(w, PERIOD);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 3);
    assert_true(kept->kept[0].device_ns >= ticks);
    check_stream_counts(zt_stream_get_info(stream).counts);
    close_rows(stream, NULL);
}

/* Where no clock can be read at first, each row lasts a period, and none is read later: it would have nothing
   to do with those rows. */
static void open_without_clock(world *w, int is_hidden) {
    gpu.set_timestamps(64, 1000000000);
    gpu.set_clock(UINT64_C(1000000000000000));
    inject("zetMetricGroupGetGlobalTimestampsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    if (is_hidden)
        hide_symbol("zeDeviceGetGlobalTimestamps");
    else
        inject("zeDeviceGetGlobalTimestamps", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    zt_stream *stream = open_rows(w, PERIOD);
    hide_symbol(NULL);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 300); /* longer than the time between two looks at the clocks */
    close_rows(stream, NULL);
    const kept_row *first = &kept->kept[0], *last = &kept->kept[kept->count - 1];
    assert_true(last->device_ns - first->device_ns >= 200 * (uint64_t)PERIOD);
    assert_true(last->time_ns - first->time_ns >= (last->device_ns - first->device_ns) / 2);
}

static void test_no_clock(void **state) {
    open_without_clock((world *)*state, 0);
    open_without_clock((world *)*state, 1);
}

/* Over a minute, more pairs of clock times are read than are kept: rows are still where they were on the host's
   clock. */
static void test_clocks_over_a_minute(void **state) {
    enum { STEPS = 200, ERROR_NS = 50000000 };
    const uint64_t step = 300000000;
    world *w = (world *)*state;
    const uint32_t bits[] = {32, 56, 64};
    for (int b = 0; b < 3; b++) {
        uint64_t host, device;
        gpu.set_timestamps(bits[b], 1000000000);
        gpu.set_clock(1000000000);
        zt_stream *stream = open_rows(w, SLOW_PERIOD);
        rows *kept = rows_of(stream);
        for (int i = 0; i < STEPS; i++) {
            pass_time(step);
            ok(zeDeviceGetGlobalTimestamps(w->device, &host, &device));
            gpu.set_clock(device + step);
            mark_often(w, stream, i == 0 ? 2 : 1); /* the first report ends no row */
            ok(zt_stream_read(stream, A_WHILE, keep_row, kept));
        }
        uint64_t before = now_ns();
        mark_often(w, stream, 1);
        uint64_t after = now_ns();
        close_rows(stream, kept);
        const kept_row *last = &kept->kept[kept->count - 1];
        assert_string_equal(last->marker, "mark");
        assert_in_range(last->time_ns + last->length_ns, before - ERROR_NS, after + ERROR_NS);
    }
}

/* ==== markers ============================================================================================= */

static const char *marker_at(const rows *kept, uint32_t index) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < kept->count; i++)
        if (kept->kept[i].marker[0] && found++ == index)
            return kept->kept[i].marker;
    return "(none)";
}

static void test_markers_name_their_rows(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    const char *names[] = {"zero", "one", "two", "one", NULL, ""};
    for (uint32_t i = 0; i < 6; i++) {
        mark_now(w, stream, names[i]);
        launch(w, w->immediate);
    }
    mark_now(w, stream, "end");
    finish_immediate(w, w->immediate);
    close_rows(stream, kept);
    assert_string_equal(marker_at(kept, 0), "one"); /* the first report gives no row */
    assert_string_equal(marker_at(kept, 1), "two");
    assert_string_equal(marker_at(kept, 2), "one");
    assert_string_equal(marker_at(kept, 3), "(unnamed)");
    assert_string_equal(marker_at(kept, 4), "(unnamed)");
    assert_string_equal(marker_at(kept, 5), "end");
    for (uint32_t i = 0; i < kept->count; i++) /* a launch between any two */
        if (kept->kept[i].marker[0])
            assert_true(kept->kept[i].groups == WORK_GROUPS);
    check_work(w);
}

/* A marker in the first report, which ends no row, is that of the next row. */
static void mark_at_once(world *w) {
    enum { LONG_ENOUGH = 50000000 };
    zt_stream *stream = open_rows(w, LONG_ENOUGH);
    rows *kept = rows_of(stream);
    mark_now(w, stream, "first");
    finish_immediate(w, w->immediate);
    read_rows(stream, kept, 2);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_string_equal(marker_at(kept, 0), "first");
    assert_int_equal(counts.lost_markers, 0);
}

/* Unless that has its own. */
static void mark_twice_at_once(world *w) {
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_now(w, stream, "first");
    mark_now(w, stream, "second");
    finish_immediate(w, w->immediate);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_string_equal(marker_at(kept, 0), "second");
    assert_int_equal(counts.lost_markers, 1);
}

static void test_marker_in_the_first_report(void **state) {
    world *w = (world *)*state;
    for (int keeps_state = 0; keeps_state < 2; keeps_state++) {
        gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, (uint32_t)keeps_state);
        for (int i = 0; i < 3; i++) { /* the first capture of a process differs */
            mark_at_once(w);
            mark_twice_at_once(w);
        }
    }
}

static void test_marker_in_a_recorded_list(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    ok(zt_stream_mark(stream, w->list, "recorded"));
    ok(zeCommandListClose(w->list));
    for (uint32_t i = 0; i < 4; i++)
        execute_unprofiled(w, w->list);
    close_rows(stream, kept);
    assert_string_equal(marker_at(kept, 2), "recorded");
    assert_string_equal(marker_at(kept, 3), "(none)");
}

/* The number of a marker stays in the rows after it, and then there are others, small ones, which are not
   those of markers. */
static void test_numbers_that_are_no_markers(void **state) {
    enum { NAMES = 70 };
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STREAM_MARKER_LINGERS, 1);
    zt_stream *stream = open_rows(w, 200000);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 1);
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i / 2); /* each twice, with others between or not */
        mark_now(w, stream, name);
        read_rows(stream, kept, kept->count + i % 7);
    }
    finish_immediate(w, w->immediate);
    close_rows(stream, kept);
    uint32_t named = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", named / 2);
        if (kept->kept[i].marker[0]) {
            assert_string_equal(kept->kept[i].marker, name);
            named++;
        }
    }
    assert_int_equal(named, NAMES);
}

static void test_too_many_names_of_markers(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    char name[16];
    const char *text;
    for (int i = 0; i < 4096; i++) {
        snprintf(name, sizeof name, "%d", i);
        mark_now(w, stream, name);
    }
    assert_result(zt_stream_mark(stream, w->immediate, "one more"), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    text = zt_last_error(NULL);
    assert_contains(text, "too many names");
    mark_now(w, stream, "4095");
    finish_immediate(w, w->immediate);
    close_rows(stream, NULL);
}

/* ==== reading ============================================================================================= */

static void test_callback_stops(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 11);
    for (uint32_t i = 1; i <= 10; i++) {
        kept->stop_at = i;
        ok(zt_stream_read(stream, 0, keep_row, kept));
        assert_int_equal(kept->count, i);
        assert_true(zt_stream_get_info(stream).counts.waiting >= 10 - i);
        check_stream_counts(zt_stream_get_info(stream).counts);
    }
    check_rows(kept);
    mark_often(w, stream, 10);
    kept->stop_at = 13;
    zt_stream_counts counts = close_rows(stream, kept);
    assert_int_equal(kept->count, 13);
    assert_true(counts.discarded >= 1 + 7);
    check_rows(kept);
}

static int call_inside(const zt_row *row, void *user) {
    zt_stream *stream = (zt_stream *)user;
    (void)row;
    assert_result(zt_stream_read(stream, 0, NULL, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zt_stream_close(stream, NULL, NULL, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    check_stream_counts(zt_stream_get_info(stream).counts);
    assert_true(zt_stream_get_info(stream).metric_count > 0);
    return 1;
}

static void test_calls_from_the_callback(void **state) {
    world *w = (world *)*state;
    const char *text;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    mark_often(w, stream, 3);
    ok(zt_stream_read(stream, 0, call_inside, stream));
    text = zt_stream_get_info(stream).error;
    assert_contains(text, "STREAM_BUSY");
    close_rows(stream, NULL);
    zt_stream_config config = stream_config_of(w);
    config.period_ns = SLOW_PERIOD;
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    mark_often(w, stream, 3);
    check_stream_counts(end_stream(stream, call_inside, stream));
    assert_int_equal(heard(w, "STREAM_BUSY"), 4); /* of each call, once for each stream */
}

typedef struct waiter {
    zt_stream *stream;
    ze_result_t result;
} waiter;

static void *wait_for_rows(void *user) {
    waiter *waits = (waiter *)user;
    waits->result = zt_stream_read(waits->stream, A_WHILE, NULL, NULL);
    return NULL;
}

/* Starts a read, and returns when it waits. */
static pthread_t start_waiter(waiter *waits, zt_stream *stream) {
    pthread_t thread;
    uint64_t before = calls("zeEventQueryStatus"), limit = now_ns() + A_WHILE;
    waits->stream = stream;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_rows, waits), 0);
    while (calls("zeEventQueryStatus") == before && now_ns() < limit)
        nap();
    return thread;
}

static void test_close_while_a_reader_waits(void **state) {
    world *w = (world *)*state;
    waiter waits;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    pthread_t thread = start_waiter(&waits, stream);
    close_rows(stream, NULL);
    pthread_join(thread, NULL);
    assert_result(waits.result, ZE_RESULT_ERROR_NOT_AVAILABLE);
}

static void test_two_readers_at_a_time(void **state) {
    world *w = (world *)*state;
    waiter waits;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    pthread_t thread = start_waiter(&waits, stream);
    assert_result(zt_stream_read(stream, 1000, NULL, NULL), ZE_RESULT_NOT_READY);
    mark_often(w, stream, 2);
    pthread_join(thread, NULL);
    ok(waits.result);
    close_rows(stream, NULL);
}

static void test_device_is_lost_while_a_reader_waits(void **state) {
    world *w = (world *)*state;
    waiter waits;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    pthread_t thread = start_waiter(&waits, stream);
    gpu.lose_device();
    pthread_join(thread, NULL);
    assert_result(waits.result, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_result(zt_stream_read(stream, A_WHILE, NULL, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(heard(w, "DEVICE_LOST"), 1);
    close_rows(stream, NULL);
    gpu.restore_device();
}

/* Rows that were read before the loss and not given are given, or counted. */
static void test_device_is_lost_with_rows_waiting(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 6);
    kept->stop_at = 1;
    ok(zt_stream_read(stream, 0, keep_row, kept));
    gpu.lose_device();
    kept->stop_at = 0;
    ok(zt_stream_read(stream, 0, keep_row, kept));
    assert_int_equal(kept->count, 5);
    close_rows(stream, kept);
    gpu.restore_device();
}

/* The calculation is the first call that tells it. */
static void test_device_is_lost_in_a_calculation(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 2);
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_DEVICE_LOST);
    zt_stream_read(stream, 0, keep_row, kept);
    assert_int_equal(kept->count, 0);
    assert_int_equal(heard(w, "[DEVICE_LOST] zetMetricGroupCalculateMetricValues"), 1);
    assert_int_equal(heard(w, "NOT_CALCULATED"), 0);
    zt_stream_counts counts = close_rows(stream, kept);
    assert_true(counts.discarded > 0);
}

/* F12 */
static void *read_for_long(void *user) {
    for (int i = 0; i < 5; i++)
        zt_stream_read((zt_stream *)user, A_WHILE, NULL, NULL);
    return NULL;
}

static void test_one_calculation_at_a_time(void **state) {
    world *w = (world *)*state;
    pthread_t threads[2];
    zt_stream *streams[2];
    zt_stream_config config = stream_config_of(w);
    config.group = "MemoryProfile";
    gpu.behave(SOFTGPU_SLOW_CALCULATION, 1);
    gpu.behave(SOFTGPU_MISSED_MOMENTS_UNTOLD, 1); /* one thread at a time keeps messages */
    streams[0] = open_stream_with(w, &config);
    config.group = "HostScheduler";
    streams[1] = open_stream_with(w, &config);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_for_long, streams[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        close_rows(streams[i], NULL);
    assert_int_equal(gpu.findings(), 0);
}

/* Neither reading nor marking allocates once names are known. */
static void test_memory_is_fixed(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    mark_often(w, stream, 3);
    ok(zt_stream_read(stream, 0, NULL, NULL));
    uint64_t allocations = heap_allocations();
    for (int i = 0; i < 20; i++) {
        mark_often(w, stream, 100);
        ok(zt_stream_read(stream, 0, NULL, NULL));
    }
    assert_int_equal(heap_allocations(), allocations);
    close_rows(stream, NULL);
}

/* A consumer that takes as long over a row as the test wants it to. */
typedef struct slow_reader {
    zt_stream *stream;
    int is_inside, may_go; /* atomic */
    uint64_t rows, gaps;
} slow_reader;

static int take_long(const zt_row *row, void *user) {
    slow_reader *me = (slow_reader *)user;
    me->rows++;
    me->gaps += row->gap != 0;
    __atomic_store_n(&me->is_inside, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&me->may_go, __ATOMIC_ACQUIRE))
        nap();
    return 0;
}

static void *read_slowly(void *user) {
    slow_reader *me = (slow_reader *)user;
    zt_stream_read(me->stream, A_WHILE, take_long, me);
    return NULL;
}

typedef struct other_work {
    world *w;
    zt_profiler *profiler;
    zt_stream *stream;
} other_work;

/* What the application does meanwhile. */
static void *do_other_work(void *user) {
    const other_work *me = (const other_work *)user;
    ok(zt_stream_mark(me->stream, me->w->immediate, "mark"));
    run(me->w, me->profiler, "region");
    ok(zt_collect(me->profiler, A_WHILE));
    check_stream_counts(zt_stream_get_info(me->stream).counts);
    return NULL;
}

/* The consumer stands still while the application goes on. Then it reads what there is. */
static void fall_behind(const other_work *other, slow_reader *slow, int rounds) {
    pthread_t thread;
    slow->is_inside = slow->may_go = 0;
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, slow), 0);
    await(&slow->is_inside);
    for (int i = 0; i < rounds; i++)
        run_in_time(other->w, do_other_work, (void *)(uintptr_t)other);
    __atomic_store_n(&slow->may_go, 1, __ATOMIC_RELEASE);
    join_in_time(other->w, thread);
    ok(zt_stream_read(slow->stream, A_WHILE, take_long, slow));
}

/* Rows that nobody takes in time are lost in the device, which shows as gaps. The application does not wait
   for the consumer, and memory is that of the beginning. */
static void consume_slowly(world *w, int reader) {
    zt_config timed = config_of(w);
    zt_stream_config config = stream_config_of(w);
    uint64_t limit = now_ns() + A_WHILE;
    timed.groups = "";
    timed.timeline = timed.samples = 64;
    gpu.behave(SOFTGPU_MISSED_MOMENTS_UNTOLD, 1); /* what is lost is lost for want of room */
    other_work other = {w, open_profiler(w, &timed), NULL};
    config.period_ns = 1;
    config.thread = reader;
    config.memory_limit = 1 << 17;
    config.profiler = other.profiler;
    config.timeline_rows = 64;
    other.stream = open_stream_with(w, &config);
    slow_reader slow = {other.stream, 0, 0, 0, 0};
    assert_true(zt_stream_get_info(other.stream).period_ns > config.period_ns);
    zt_last_error(NULL);            /* a thread keeps its last message */
    fall_behind(&other, &slow, 64); /* makes what is needed once */
    int64_t before = heap_bytes();
    /* A gap is counted before the row that follows it is read. */
    for (int rounds = 64; slow.gaps == 0 && now_ns() < limit; rounds *= 2)
        fall_behind(&other, &slow, rounds);
    assert_int_equal(heap_bytes(), before);
    zt_stream_counts counts = close_rows(other.stream, NULL);
    assert_true(counts.gaps > 0 && slow.gaps > 0);
    assert_true(counts.dropped > 0);
    assert_true(slow.rows <= counts.rows);
    check_identity(other.profiler);
    assert_int_equal(zt_get_info(other.profiler).counts.collected, zt_get_info(other.profiler).counts.begun);
    check_work(w);
    close_profiler(w, other.profiler);
}

static void test_shortest_period_and_a_slow_consumer(void **state) {
    consume_slowly(*state, 0);
    consume_slowly(*state, 1);
}

/* ==== streams and queries ================================================================================= */

static void expect_refusal(world *w, const char *group, ze_result_t expected, const char *part) {
    zt_stream_config config = stream_config_of(w);
    zt_stream *stream = (zt_stream *)w;
    const char *text;
    config.group = group;
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), expected);
    assert_null(stream);
    text = zt_last_error(NULL);
    assert_result(last_result(), expected);
    assert_contains(text, part);
}

static void expect_no_metrics(world *w, const char *groups, const char *part) {
    const char *text;
    zt_config config = config_of(w);
    config.groups = groups;
    zt_profiler *profiler = open_profiler(w, &config);
    text = zt_get_info(profiler).availability_text;
    assert_int_equal(zt_get_info(profiler).availability, ZT_IN_USE);
    assert_contains(text, part);
    run(w, profiler, "timed");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    close_profiler(w, profiler);
}

/* F21 */
static void test_stream_first(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, PERIOD);
    expect_no_metrics(w, "ComputeBasic", "group 'ComputeBasic' of a stream of this process");
    expect_no_metrics(w, "MemoryProfile", "group 'ComputeBasic' of a stream of this process");
    expect_refusal(w, "ComputeBasic", ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "of a stream of this process");
    expect_refusal(w, "MemoryProfile", ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "of a stream of this process");
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 3); /* it goes on */
    close_rows(stream, NULL);
    close_profiler(w, open_groups(w, "ComputeBasic"));
}

static void test_profiler_first(void **state) {
    world *w = (world *)*state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    /* No call of the driver has failed. */
    expect_refusal(w, "ComputeBasic", ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                   "zt_stream_open: the device's counters are in use by group 'ComputeBasic' of a profiler");
    expect_refusal(w, "MemoryProfile", ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "of a profiler of this process");
    run(w, profiler, "goes on");
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    close_profiler(w, profiler);
    close_rows(open_rows(w, PERIOD), NULL);
}

static void test_different_domains_run_together(void **state) {
    world *w = (world *)*state;
    for (int stream_first = 0; stream_first < 2; stream_first++) {
        zt_stream *stream = stream_first ? open_rows(w, PERIOD) : NULL;
        zt_profiler *profiler = open_groups(w, "HostScheduler");
        stream = stream ? stream : open_rows(w, PERIOD);
        rows *kept = rows_of(stream);
        read_rows(stream, kept, 1);
        for (int i = 0; i < 5; i++)
            run(w, profiler, "both");
        mark_often(w, stream, 1);
        collect_all(profiler);
        close_rows(stream, kept);
        assert_counts(profiler, counted(5, 5, 0, 0, 0));
        assert_true(groups_in_rows(kept) == 5.0 * WORK_GROUPS);
        close_profiler(w, profiler);
    }
}

static void test_drivers_that_exclude_on_the_whole_device(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_STREAMERS_EXCLUDE_QUERIES, 1);
    zt_stream *stream = open_rows(w, PERIOD);
    expect_no_metrics(w, "HostScheduler", "group 'ComputeBasic' of a stream of this process");
    close_rows(stream, NULL);
    zt_profiler *profiler = open_groups(w, "HostScheduler");
    expect_refusal(w, "ComputeBasic", ZE_RESULT_ERROR_NOT_AVAILABLE,
                   "group 'HostScheduler' of a profiler of this process");
    run(w, profiler, "goes on");
    collect_all(profiler);
    close_profiler(w, profiler);
}

static void test_streams_of_two_domains(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    config.group = "HostScheduler";
    zt_stream *host = open_stream_with(w, &config);
    zt_stream *device = open_rows(w, PERIOD);
    rows *kept = rows_of(device);
    read_rows(device, kept, 3);
    ok(zt_stream_read(host, A_WHILE, NULL, NULL));
    close_rows(host, NULL);
    read_rows(device, kept, 6);
    close_rows(device, NULL);
}

/* Times need no counters. */
static void test_stream_beside_times(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    zt_stream *stream = open_rows(w, PERIOD);
    rows *kept = rows_of(stream);
    run(w, profiler, "timed");
    read_rows(stream, kept, 3);
    collect_all(profiler);
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    close_rows(stream, NULL);
}

/* Reports of several tiles cannot be calculated many at once: such a stream is refused, and each tile can
   have one of its own. */
static void test_tiles(void **state) {
    world *w = (world *)*state;
    ze_device_handle_t tiles[2];
    zt_stream *stream;
    uint32_t count = 2;
    gpu.set_devices(1, 2);
    expect_refusal(w, NULL, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "zeDeviceGetSubDevices");
    close_profiler(w, open_groups(w, "ComputeBasic")); /* nothing is left active */
    ok(zeDeviceGetSubDevices(w->device, &count, tiles));
    for (uint32_t i = 0; i < count; i++) {
        ok(zt_stream_open(w->context, tiles[i], NULL, &stream));
        rows *kept = rows_of(stream);
        read_rows(stream, kept, 3);
        check_rows(kept);
        assert_true(end_stream(stream, NULL, NULL).rows >= 3);
    }
}

/* ==== bad input, and drivers that refuse ================================================================== */

static void test_nothing_is_given(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = (zt_stream *)w;
    zt_stream_config config = stream_config_of(w);
    assert_result(zt_stream_open(w->context, w->device, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zt_stream_open(NULL, w->device, NULL, &stream), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(stream);
    assert_result(zt_stream_open(w->context, NULL, NULL, &stream), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    config.allocator.release = scarce_allocator().release; /* and not what allocates it */
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok(zt_stream_read(NULL, A_WHILE, keep_row, NULL));
    ok(zt_stream_mark(NULL, w->immediate, "name"));
    assert_int_equal(end_stream(NULL, NULL, NULL).reports, 0);
    assert_int_equal(zt_stream_get_info(NULL).counts.reports, 0);
    assert_int_equal(zt_stream_get_info(NULL).period_ns, 0);
    assert_int_equal(zt_stream_get_info(NULL).metric_count, 0);
    assert_null(zt_stream_get_info(NULL).metrics);
    assert_string_equal(zt_stream_get_info(NULL).error, "");
    assert_int_equal(zt_stream_find_metric(NULL, "GpuTime"), UINT32_MAX);
    ok(zt_stream_open(w->context, w->device, NULL, &stream)); /* the defaults */
    assert_int_equal(zt_stream_find_metric(stream, NULL), UINT32_MAX);
    assert_result(zt_stream_mark(stream, NULL, "name"), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    close_rows(stream, NULL);
}

static void test_refusals_say_why(void **state) {
    world *w = (world *)*state;
    expect_refusal(w, "ComputeBasics", ZE_RESULT_ERROR_INVALID_ARGUMENT, "'ComputeBasic'");
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1); /* its rows are of instructions, and not of periods */
    expect_refusal(w, "EuStallSampling", ZE_RESULT_ERROR_INVALID_ARGUMENT, "EuStallSampling");
    expect_refusal(w, "EuStallSamplings", ZE_RESULT_ERROR_INVALID_ARGUMENT, "Nearest: '");
    assert_null(strstr(zt_last_error(NULL), "'EuStallSampling'"));
    close_rows(open_rows(w, PERIOD), NULL);
    gpu.reset();
    gpu.behave(SOFTGPU_NO_PERMISSION, 1);
    expect_refusal(w, NULL, ZE_RESULT_ERROR_UNKNOWN, "zetMetricStreamerOpen failed");
    gpu.reset();
    gpu.behave(SOFTGPU_ONLY_EVENT_BASED, 1);
    expect_refusal(w, NULL, ZE_RESULT_ERROR_INVALID_ARGUMENT, "NO_SUCH_GROUP");
    gpu.reset();
    gpu.behave(SOFTGPU_NO_METRIC_LIBRARY, 1);
    expect_refusal(w, NULL, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "libigdmd");
    gpu.reset();
    gpu.behave(SOFTGPU_ONLY_STALL_SAMPLING, 1);
    expect_refusal(w, NULL, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "libigdmd");
    gpu.reset();
    gpu.lose_device();
    expect_refusal(w, NULL, ZE_RESULT_ERROR_DEVICE_LOST, "DEVICE_LOST");
    gpu.restore_device();
    inject("zetMetricGroupGet", 1, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    inject("zetDeviceEnableMetricsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    expect_refusal(w, NULL, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "ZET_ENABLE_METRICS=1");
    close_rows(open_rows(w, PERIOD), NULL);
}

static void test_memory_limits(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    zt_stream *stream;
    const char *text;
    config.period_ns = SLOW_PERIOD;
    config.memory_limit = 1000;
    assert_result(zt_stream_open(w->context, w->device, &config, &stream), ZE_RESULT_ERROR_INVALID_SIZE);
    text = zt_last_error(NULL);
    assert_contains(text, "config.memory_limit");
    config.memory_limit = 64 << 10;
    int64_t before = heap_bytes();
    stream = open_stream_with(w, &config);
    assert_true(heap_bytes() - before < 2 * (64 << 10) + 100000);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 3000); /* many times what the memory holds */
    ok(zt_stream_read(stream, 0, keep_row, kept));
    assert_true(kept->count >= 2999);
    check_rows(kept);
    close_rows(stream, NULL);
}

/* Whatever call fails at opening, it is said, and nothing is left behind. */
static void test_failures_at_opening(void **state) {
    static const char *const functions[] = {
        "zetMetricGroupGet", "zetMetricGroupGetProperties",    "zetMetricGet",
        "zeEventPoolCreate", "zetContextActivateMetricGroups", "zetMetricGetProperties",
        "zeEventCreate",     "zetMetricStreamerOpen",
    };
    world *w = (world *)*state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        inject(functions[i], 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        expect_refusal(w, NULL, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, functions[i]);
    }
    inject("zetMetricGroupGetGlobalTimestampsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    inject("zeDeviceGetProperties", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY); /* of the device's clock */
    expect_refusal(w, NULL, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeDeviceGetProperties");
    close_rows(open_rows(w, PERIOD), NULL);
}

static void open_without_memory(world *w, zt_profiler *profiler) {
    zt_stream_config config = stream_config_of(w);
    zt_stream *stream = NULL;
    config.allocator = scarce_allocator();
    config.profiler = profiler;
    int enough = 0;
    for (; enough < 100; enough++) {
        allocations_left = enough;
        ze_result_t result = zt_stream_open(w->context, w->device, &config, &stream);
        if (result == ZE_RESULT_SUCCESS)
            break;
        assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        assert_contains(zt_last_error(NULL), "config.memory_limit of a stream");
        assert_null(stream);
    }
    assert_true(enough > 5 && enough < 100);
    allocations_left = 0;
    assert_result(zt_stream_mark(stream, w->immediate, "name"), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    close_rows(stream, NULL);
    allocations_left = -1;
}

static void test_memory_runs_out_at_opening(void **state) {
    world *w = (world *)*state;
    zt_config config = config_of(w);
    open_without_memory(w, NULL);
    config.groups = "";
    config.timeline = 16;
    open_without_memory(w, open_profiler(w, &config)); /* which keeps the rows */
}

static void test_failures_while_reading(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    mark_often(w, stream, 3);
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_stream_read(stream, A_WHILE, keep_row, kept), ZE_RESULT_ERROR_UNKNOWN);
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_stream_read(stream, 0, keep_row, kept), ZE_RESULT_NOT_READY);
    assert_int_equal(heard(w, "NOT_CALCULATED"), 1);
    mark_often(w, stream, 3);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    assert_int_equal(gaps_in_rows(kept), 1);
    zt_stream_counts counts = close_rows(stream, NULL);
    assert_int_equal(counts.discarded, 4); /* and the first that could be calculated */
    inject("zetCommandListAppendMetricStreamerMarker", 1, ZE_RESULT_ERROR_UNKNOWN);
    stream = open_rows(w, SLOW_PERIOD);
    assert_result(zt_stream_mark(stream, w->immediate, "refused"), ZE_RESULT_ERROR_UNKNOWN);
    inject("zeEventQueryStatus", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_stream_read(stream, 1000000, NULL, NULL), ZE_RESULT_NOT_READY);
    close_rows(stream, NULL);
}

/* A device may not know the size of its reports before there is one. */
static void test_size_of_reports_is_not_known_at_first(void **state) {
    world *w = (world *)*state;
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_NOT_READY);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_NOT_READY);
    assert_result(zt_stream_read(stream, 0, keep_row, kept), ZE_RESULT_NOT_READY);
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_ERROR_UNKNOWN);
    assert_result(zt_stream_read(stream, 0, keep_row, kept), ZE_RESULT_ERROR_UNKNOWN);
    assert_int_equal(heard(w, "zetMetricStreamerReadData failed: ZE_RESULT_ERROR_UNKNOWN"), 1);
    check_stream_counts(zt_stream_get_info(stream).counts);
    mark_often(w, stream, 5);
    ok(zt_stream_read(stream, 0, keep_row, kept));
    assert_int_equal(kept->count, 4);
    check_rows(kept);
    close_rows(stream, kept);
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_NOT_READY);
    zt_stream_counts counts = close_rows(open_rows(w, SLOW_PERIOD), NULL);
    assert_int_equal(counts.rows, 0);
}

/* The time of a row is the first metric that is one. */
static void test_two_time_stamps_of_a_row(void **state) {
    static const softgpu_metric other = {"OtherTime", "X", "ns", ZET_METRIC_TYPE_TIMESTAMP,
                                         ZET_VALUE_TYPE_UINT64};
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    assert_true(gpu.list_metrics("Listed", &other, 1));
    assert_true(gpu.set_metric("OtherTime", 12345));
    config.group = "Listed";
    config.period_ns = PERIOD;
    uint64_t before = now_ns();
    zt_stream *stream = open_stream_with(w, &config);
    rows *kept = rows_of(stream);
    read_rows(stream, kept, 10);
    uint64_t lasted = now_ns() - before;
    assert_true(zt_stream_find_metric(stream, "OtherTime") != UINT32_MAX);
    const kept_row *first = &kept->kept[0], *last = &kept->kept[kept->count - 1];
    assert_true(last->device_ns > first->device_ns);
    assert_true(last->device_ns - first->device_ns <= lasted + 2000000);
    close_rows(stream, NULL);
}

static void test_no_thread_can_be_started(void **state) {
    world *w = (world *)*state;
    zt_stream_config config = stream_config_of(w);
    zt_stream *stream = (zt_stream *)w;
    NOT_ON_WINDOWS("threads of the library are refused");
    config.thread = 1;
    refused_threads = 1;
    assert_result(zt_stream_open(w->context, w->device, &config, &stream),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(stream);
    assert_contains(zt_last_error(NULL), "the system starts no thread");
    close_rows(open_stream_with(w, &config), NULL);
}

/* Two threads add the same name. The second does so while the first has memory for it. */
typedef struct marking {
    zt_stream *stream;
    world *w;
    int is_armed;
    ze_result_t result;
} marking;

static void *mark_elsewhere(void *argument) {
    marking *of = (marking *)argument;
    of->result = zt_stream_mark(of->stream, of->w->immediate, "same");
    return NULL;
}

static void *allocate_and_mark(size_t size, void *user) {
    marking *of = (marking *)user;
    if (of->is_armed) {
        pthread_t thread;
        of->is_armed = 0;
        assert_int_equal(pthread_create(&thread, NULL, mark_elsewhere, of), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    return malloc(size);
}

static void release_memory(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void test_two_threads_add_a_marker(void **state) {
    world *w = (world *)*state;
    marking of = {NULL, w, 0, ZE_RESULT_ERROR_UNKNOWN};
    zt_stream_config config = stream_config_of(w);
    config.period_ns = SLOW_PERIOD;
    config.allocator.allocate = allocate_and_mark;
    config.allocator.release = release_memory;
    config.allocator.user = &of;
    of.stream = open_stream_with(w, &config);
    rows *kept = rows_of(of.stream);
    mark_often(w, of.stream, 2);
    of.is_armed = 1;
    mark_now(w, of.stream, "same");
    ok(of.result);
    mark_now(w, of.stream, "other");
    finish_immediate(w, w->immediate);
    close_rows(of.stream, kept);
    assert_string_equal(kept->kept[kept->count - 1].marker, "other");
    assert_string_equal(kept->kept[kept->count - 2].marker, "same");
    assert_string_equal(kept->kept[kept->count - 3].marker, "same");
}

/* A reader thread does not come back from the application's log function: the stream is closed later. */
typedef struct stuck_log {
    pthread_t main;
    int is_inside, is_free, hangs;
} stuck_log;

static void hang_in_the_log(int result, const char *message, void *user) {
    stuck_log *log = (stuck_log *)user;
    (void)result;
    if (pthread_equal(pthread_self(), log->main)) {
        log->hangs += strstr(message, "[THREAD_HANGS]") != NULL;
        return;
    }
    __atomic_store_n(&log->is_inside, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&log->is_free, __ATOMIC_SEQ_CST))
        nap();
}

static void test_close_while_the_thread_hangs(void **state) {
    world *w = (world *)*state;
    stuck_log log = {pthread_self(), 0, 0, 0};
    pthread_t passing;
    int is_over = 0;
    zt_stream_config config = stream_config_of(w);
    config.thread = 1;
    config.log = hang_in_the_log;
    config.log_user = &log;
    zt_stream *stream = open_stream_with(w, &config);
    inject("zetMetricStreamerReadData", 1, ZE_RESULT_ERROR_UNKNOWN);
    await(&log.is_inside);
    assert_int_equal(pthread_create(&passing, NULL, pass_much_time, &is_over), 0);
    ze_result_t result = zt_stream_close(stream, NULL, NULL, NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    join_in_time(w, passing);
    __atomic_store_n(&log.is_free, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(log.hangs, 1);
    assert_result(result, ZE_RESULT_NOT_READY);
    close_rows(stream, NULL);
}

/* The group has no metric for the length of a row, its marker and its reason: a row lasts from the end of the one
   before. After a failed calculation that is not known, so that the next row is discarded. */
static void test_group_without_metrics_of_streams(void **state) {
    world *w = (world *)*state;
    gpu.behave(SOFTGPU_METRICS_OF_STREAMS_DIFFER, 1);
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    rows *kept = rows_of(stream);
    assert_result(zt_stream_mark(stream, w->immediate, "name"), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_contains(zt_stream_get_info(stream).error, "the group has no metric StreamMarker");
    close_rows(stream, NULL);

    stream = open_rows(w, PERIOD);
    rows_of(stream);
    read_rows(stream, kept, 20);
    check_rows_join(kept, 1);
    for (uint32_t i = 1; i < kept->count; i++) {
        assert_true(kept->kept[i].length_ns > 0);
        assert_string_equal(kept->kept[i].marker, "");
    }
    inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
    uint32_t before = kept->count, gaps = gaps_in_rows(kept);
    read_rows(stream, kept, before + 5);
    assert_true(gaps_in_rows(kept) > gaps); /* a busy machine may miss more */
    for (uint32_t i = before + 1; i < kept->count; i++)
        if (!kept->kept[i].gap)
            assert_int_equal(kept->kept[i].device_ns,
                             kept->kept[i - 1].device_ns + kept->kept[i - 1].length_ns);
    zt_stream_counts counts = close_rows(stream, NULL);
    assert_true(counts.discarded >= 3); /* the first, one that failed, and the one after it */
}

/* A clock that starts again: rows go on from where they were. The turn of each is so long that the step back is not
   taken for a step forward. */
static void test_time_stamps_that_start_again(void **state) {
    world *w = (world *)*state;
    const uint32_t bits[] = {36, 56, 64};
    for (uint32_t b = 0; b < 6; b++) {
        gpu.behave(SOFTGPU_METRICS_OF_STREAMS_DIFFER, b / 3);
        gpu.set_timestamps(bits[b % 3], 1000000000);
        gpu.set_clock(3500000000u);
        uint64_t before = now_ns();
        zt_stream *stream = open_rows(w, PERIOD);
        rows *kept = rows_of(stream);
        read_rows(stream, kept, 3);
        set_clock_back(w, 3000000000u);
        read_rows(stream, kept, kept->count + 10);
        uint64_t lasted = now_ns() - before;
        close_rows(stream, NULL);
        const kept_row *first = &kept->kept[0], *last = &kept->kept[kept->count - 1];
        assert_true(last->device_ns >= first->device_ns);
        assert_true(last->device_ns + last->length_ns - first->device_ns <= lasted + 2000000);
        assert_true(last->time_ns - first->time_ns <= lasted + 2000000);
        gpu.behave(SOFTGPU_METRICS_OF_STREAMS_DIFFER, 0);
    }
}

static int knows_clock_of_metrics(void) {
    return dlsym(RTLD_DEFAULT, "zetMetricGroupGetGlobalTimestampsExp") != NULL;
}

/* Where the driver does not describe the clock of the metrics, it is the device's. */
static void test_clock_that_is_not_described(void **state) {
    world *w = (world *)*state;
    close_rows(open_rows(w, PERIOD), NULL); /* what is known of the groups is kept */
    gpu.reset_calls();
    close_rows(open_rows(w, PERIOD), NULL);
    uint32_t last = (uint32_t)calls("zetMetricGroupGetProperties");
    if (knows_clock_of_metrics())
        inject("zetMetricGroupGetProperties", last, ZE_RESULT_ERROR_UNKNOWN);
    gpu.reset_calls();
    zt_stream *stream = open_rows(w, PERIOD);
    rows *kept = rows_of(stream);
    assert_int_equal(calls("zetMetricGroupGetGlobalTimestampsExp"), 0);
    assert_true(calls("zeDeviceGetGlobalTimestamps") > 0);
    read_rows(stream, kept, 10);
    check_rows(kept);
    close_rows(stream, NULL);
}

/* The device is lost when a clock is read at opening. */
static void test_device_is_lost_at_opening(void **state) {
    world *w = (world *)*state;
    for (int of_device = !knows_clock_of_metrics(); of_device < 2; of_device++) {
        const char *call = of_device ? "zeDeviceGetGlobalTimestamps" : "zetMetricGroupGetGlobalTimestampsExp";
        if (of_device)
            inject("zetMetricGroupGetGlobalTimestampsExp", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        inject(call, 1, ZE_RESULT_ERROR_DEVICE_LOST);
        expect_refusal(w, NULL, ZE_RESULT_ERROR_DEVICE_LOST, call);
    }
}

/* A thread does not come back from its row function: the stream cannot be closed until it does. */
typedef struct stuck_reader {
    zt_stream *stream;
    int is_inside, is_free; /* atomic */
    ze_result_t result;
} stuck_reader;

static int stay_inside(const zt_row *row, void *user) {
    stuck_reader *reader = (stuck_reader *)user;
    (void)row;
    __atomic_store_n(&reader->is_inside, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&reader->is_free, __ATOMIC_SEQ_CST)) {
        pass_time(100000000);
        nap();
    }
    return 0;
}

static void *read_and_stay(void *argument) {
    stuck_reader *reader = (stuck_reader *)argument;
    reader->result = zt_stream_read(reader->stream, A_WHILE, stay_inside, reader);
    return NULL;
}

static void test_close_while_a_reader_does_not_end(void **state) {
    world *w = (world *)*state;
    zt_stream *stream = open_rows(w, SLOW_PERIOD);
    stuck_reader reader = {stream, 0, 0, ZE_RESULT_ERROR_UNKNOWN};
    pthread_t thread;
    mark_often(w, stream, 3);
    assert_int_equal(pthread_create(&thread, NULL, read_and_stay, &reader), 0);
    await(&reader.is_inside);
    ze_result_t result = zt_stream_close(stream, NULL, NULL, NULL);
    __atomic_store_n(&reader.is_free, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    ok(reader.result);
    assert_int_equal(heard(w, "[STREAM_BUSY] zt_stream_close"), 1);
    assert_result(result, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_int_equal(close_rows(stream, NULL).rows, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STREAM_TEST(test_rows_come_and_join),
        STREAM_TEST(test_work_is_measured),
        STREAM_TEST(test_metrics_are_told),
        STREAM_TEST(test_what_the_driver_made_of_the_pace),
        STREAM_TEST(test_notification_of_markers),
        STREAM_TEST(test_capacity_is_not_availability),
        STREAM_TEST(test_state_of_the_calculation),
        STREAM_TEST(test_state_with_single_reports),
        STREAM_TEST(test_partial_reports),
        STREAM_TEST(test_partial_report_without_its_rest),
        STREAM_TEST(test_overflow),
        STREAM_TEST(test_overflow_that_fails_a_read),
        STREAM_TEST(test_gap_is_estimated),
        STREAM_TEST(test_gap_without_a_clock),
        STREAM_TEST(test_rows_that_span_a_gap),
        STREAM_TEST(test_rows_after_a_failed_calculation),
        STREAM_TEST(test_period_of_a_row),
        STREAM_TEST(test_times_are_unwrapped),
        STREAM_TEST(test_long_time_stamps),
        STREAM_TEST(test_equal_time_stamps),
        STREAM_TEST(test_time_stamps_that_step_back),
        STREAM_TEST(test_step_back_that_is_read_late),
        STREAM_TEST(test_clock_of_older_drivers),
        STREAM_TEST(test_no_clock),
        STREAM_TEST(test_clocks_over_a_minute),
        STREAM_TEST(test_markers_name_their_rows),
        STREAM_TEST(test_marker_in_the_first_report),
        STREAM_TEST(test_marker_in_a_recorded_list),
        STREAM_TEST(test_numbers_that_are_no_markers),
        STREAM_TEST(test_too_many_names_of_markers),
        STREAM_TEST(test_callback_stops),
        STREAM_TEST(test_calls_from_the_callback),
        STREAM_TEST(test_close_while_a_reader_waits),
        STREAM_TEST(test_two_readers_at_a_time),
        STREAM_TEST(test_device_is_lost_while_a_reader_waits),
        STREAM_TEST(test_device_is_lost_with_rows_waiting),
        STREAM_TEST(test_device_is_lost_in_a_calculation),
        STREAM_TEST(test_one_calculation_at_a_time),
        STREAM_TEST(test_memory_is_fixed),
        STREAM_TEST(test_shortest_period_and_a_slow_consumer),
        STREAM_TEST(test_stream_first),
        STREAM_TEST(test_profiler_first),
        STREAM_TEST(test_different_domains_run_together),
        STREAM_TEST(test_drivers_that_exclude_on_the_whole_device),
        STREAM_TEST(test_streams_of_two_domains),
        STREAM_TEST(test_stream_beside_times),
        STREAM_TEST(test_tiles),
        STREAM_TEST(test_nothing_is_given),
        STREAM_TEST(test_refusals_say_why),
        STREAM_TEST(test_memory_limits),
        STREAM_TEST(test_failures_at_opening),
        STREAM_TEST(test_memory_runs_out_at_opening),
        STREAM_TEST(test_failures_while_reading),
        STREAM_TEST(test_size_of_reports_is_not_known_at_first),
        STREAM_TEST(test_two_time_stamps_of_a_row),
        STREAM_TEST(test_no_thread_can_be_started),
        STREAM_TEST(test_two_threads_add_a_marker),
        STREAM_TEST(test_close_while_the_thread_hangs),
        STREAM_TEST(test_group_without_metrics_of_streams),
        STREAM_TEST(test_time_stamps_that_start_again),
        STREAM_TEST(test_clock_that_is_not_described),
        STREAM_TEST(test_device_is_lost_at_opening),
        STREAM_TEST(test_close_while_a_reader_does_not_end),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
