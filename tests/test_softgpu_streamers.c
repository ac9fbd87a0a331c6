/* The software device's metric streamers: as the specification says and, where asked for, as real drivers do.
 */
#include "values.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

enum { PERIOD = 100000, SLOW = 1000000000, LEAST_CAPACITY = 4500 };

/* ==== a streamer ====================================================================================== */

typedef struct stream {
    world *w;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t handle;
    uint8_t *raw; /* as much as can ever be read at once */
    size_t room;
    size_t size; /* of one report */
} stream;

static ze_result_t try_open(world *w, zet_metric_group_handle_t group, uint32_t period, uint32_t notify,
                            ze_event_handle_t event, zet_metric_streamer_handle_t *handle) {
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, notify, period};
    return zetMetricStreamerOpen(w->context, w->device, group, &desc, event, handle);
}

/* The size of a report, out of a capacity that is asked for. */
static void find_sizes(stream *s) {
    size_t one = 0;
    ok(zetMetricStreamerReadData(s->handle, UINT32_MAX, &s->room, NULL));
    ok(zetMetricStreamerReadData(s->handle, 1, &one, NULL));
    s->size = one;
    s->raw = (uint8_t *)malloc(s->room);
    assert_non_null(s->raw);
}

static stream open_stream(world *w, const char *name, uint32_t period, uint32_t notify,
                          ze_event_handle_t event) {
    stream s = {.w = w, .group = group_of(w->device, name, BY_TIME)};
    activate_one(w, s.group);
    ok(try_open(w, s.group, period, notify, event, &s.handle));
    find_sizes(&s);
    return s;
}

static void close_stream(stream *s) {
    ok(zetMetricStreamerClose(s->handle));
    deactivate(s->w, s->w->device);
    free(s->raw);
}

/* Bounded, as all waiting. */
static size_t bytes_there(stream *s) {
    size_t size = 0;
    gpu.behave(SOFTGPU_STREAMER_SIZE_IS_AVAILABLE, 1);
    ok(zetMetricStreamerReadData(s->handle, UINT32_MAX, &size, NULL));
    gpu.behave(SOFTGPU_STREAMER_SIZE_IS_AVAILABLE, 0);
    return size;
}

static void wait_for_reports(stream *s, uint32_t count) {
    uint64_t limit = now_ns() + A_WHILE;
    while (bytes_there(s) < count * s->size && now_ns() < limit)
        nap();
    assert_true(bytes_there(s) >= count * s->size);
}

/* How many reports there were. */
static uint32_t read_reports(stream *s, uint32_t most, ze_result_t expected) {
    size_t size = s->room;
    assert_result(zetMetricStreamerReadData(s->handle, most, &size, s->raw), expected);
    assert_int_equal(size % s->size, 0);
    return (uint32_t)(size / s->size);
}

/* Of a period that is short: moments may be missed where other programs are at work. */
static uint32_t read_sampled(stream *s) {
    size_t size = s->room;
    ze_result_t result = zetMetricStreamerReadData(s->handle, UINT32_MAX, &size, s->raw);
    if (result != ZE_RESULT_WARNING_DROPPED_DATA)
        ok(result);
    assert_int_equal(size % s->size, 0);
    return (uint32_t)(size / s->size);
}

static void mark(stream *s, uint32_t value) {
    ok(zetCommandListAppendMetricStreamerMarker(s->w->immediate, s->handle, value));
}

/* ==== what is measured ================================================================================ */

static void work_between_markers_is_measured(void **state) {
    world *w = (world *)*state;
    uint32_t sets;
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    mark(&s, 7);
    launch(w, w->immediate);
    launch(w, w->immediate);
    mark(&s, 8);
    finish_immediate(w, w->immediate);
    uint32_t count = read_reports(&s, UINT32_MAX, ZE_RESULT_SUCCESS);
    assert_true(count >= 2);
    zet_typed_value_t *values = calculate(s.group, s.raw, count * s.size, &sets);
    assert_int_equal(sets, count);
    uint32_t metrics = metrics_in(s.group);
    bool inside = false;
    double groups = 0, last_id = 0;
    for (uint32_t i = 0; i < sets; i++) {
        const zet_typed_value_t *set = values + i * metrics;
        groups += inside ? value_in(s.group, set, "GPGPU_THREADGROUP_COUNT") : 0;
        if (value_in(s.group, set, "StreamMarker") > 0)
            inside = value_in(s.group, set, "StreamMarker") == 7;
        assert_true(value_in(s.group, set, "ReportId") > last_id);
        assert_true(value_in(s.group, set, "ReportReason") == 1 ||
                    value_in(s.group, set, "ReportReason") == 2);
        assert_true(value_in(s.group, set, "GpuTime") > 0);
        last_id = value_in(s.group, set, "ReportId");
    }
    assert_false(inside);
    assert_true(groups == 2 * WORK_GROUPS);
    free(values);
    close_stream(&s);
}

/* Each row has what was given when it was sampled. */
static void a_b580_streams_what_a_test_gives(void **state) {
    world *w = (world *)*state;
    uint32_t sets, marked = 0;
    gpu.behave(SOFTGPU_B580_METRICS, 1);
    gpu.behave(SOFTGPU_STREAMER_SPLITS_REPORTS, 1);
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    size_t read = 0;
    for (uint32_t i = 1; i <= 3; i++) {
        assert_true(gpu.set_metric("XVE_THREADS_OCCUPANCY_ALL", 12.5 * i));
        assert_true(gpu.set_metric("ContextId", i));
        launch(w, w->immediate);
        mark(&s, i);
        finish_immediate(w, w->immediate);
    }
    for (size_t size = s.room; size > 0; read += size) {
        size = s.room - read;
        ok(zetMetricStreamerReadData(s.handle, UINT32_MAX, &size, s.raw + read));
    }
    zet_typed_value_t *values = calculate(s.group, s.raw, read, &sets);
    uint32_t metrics = metrics_in(s.group);
    for (uint32_t i = 0; i < sets; i++) {
        const zet_typed_value_t *set = values + i * metrics;
        double marker = value_in(s.group, set, "StreamMarker");
        if (marker == 0)
            continue;
        marked++;
        assert_true(marker == marked);
        assert_true(value_in(s.group, set, "XVE_THREADS_OCCUPANCY_ALL") == 12.5 * marker);
        assert_true(value_in(s.group, set, "ContextId") == marker);
    }
    assert_int_equal(marked, 3);
    free(values);
    close_stream(&s);
}

/* Rows without a marker have the last one's value, and later small numbers. */
static void markers_can_linger(void **state) {
    world *w = (world *)*state;
    uint32_t sets, others = 0;
    gpu.behave(SOFTGPU_STREAM_MARKER_LINGERS, 1);
    stream s = open_stream(w, "ComputeBasic", PERIOD, 1, NULL);
    mark(&s, 7000);
    finish_immediate(w, w->immediate);
    wait_for_reports(&s, (uint32_t)(bytes_there(&s) / s.size) + 40);
    uint32_t count = read_sampled(&s);
    zet_typed_value_t *values = calculate(s.group, s.raw, count * s.size, &sets);
    uint32_t metrics = metrics_in(s.group), marker = index_of(s.group, "StreamMarker");
    uint32_t reason = index_of(s.group, "ReportReason");
    uint32_t lingering = 0;
    for (uint32_t i = 0; i < sets; i++) {
        const zet_typed_value_t *set = values + i * metrics;
        bool is_marker = number(set[reason]) == 2;
        uint32_t value = (uint32_t)number(set[marker]);
        assert_true(value == 7000 || (!is_marker && value >= 1 && value <= 64));
        lingering += !is_marker && value == 7000;
        others += value != 7000;
    }
    assert_true(lingering > 0 && others > 0);
    free(values);
    close_stream(&s);
}

static void the_clock_makes_reports_that_join(void **state) {
    world *w = (world *)*state;
    uint32_t sets;
    stream s = open_stream(w, "MemoryProfile", PERIOD, 1, NULL);
    wait_for_reports(&s, 3);
    uint32_t count = read_sampled(&s);
    zet_typed_value_t *values = calculate(s.group, s.raw, count * s.size, &sets);
    uint32_t metrics = metrics_in(s.group);
    for (uint32_t i = 1; i < sets; i++) {
        const zet_typed_value_t *set = values + i * metrics, *before = set - metrics;
        assert_true(value_in(s.group, set, "QueryBeginTime") ==
                    value_in(s.group, before, "QueryBeginTime") + value_in(s.group, set, "GpuTime"));
    }
    free(values);
    close_stream(&s);
}

static void the_device_thread_is_sampled(void **state) {
    world *w = (world *)*state;
    uint32_t sets;
    stream s = open_stream(w, "HostScheduler", SLOW, 1, NULL);
    launch(w, w->immediate);
    mark(&s, 1);
    finish_immediate(w, w->immediate);
    uint32_t count = read_reports(&s, UINT32_MAX, ZE_RESULT_SUCCESS);
    zet_typed_value_t *values = calculate(s.group, s.raw, count * s.size, &sets);
    double cpu = 0;
    for (uint32_t i = 0; i < sets; i++)
        cpu += value_in(s.group, values + i * metrics_in(s.group), "HOST_CPU_TIME");
    assert_true(cpu > 0);
    free(values);
    close_stream(&s);
}

static void tiles_have_a_block_each(void **state) {
    world *w = (world *)*state;
    zet_typed_value_t *values = NULL;
    uint32_t sets = 0, total = 0, counts[4] = {0};
    gpu.set_devices(1, 2);
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    mark(&s, 1);
    launch(w, w->immediate);
    mark(&s, 2);
    finish_immediate(w, w->immediate);
    size_t size = s.room;
    ok(zetMetricStreamerReadData(s.handle, UINT32_MAX, &size, s.raw));
    assert_result(zetMetricGroupCalculateMetricValues(s.group, VALUES, size, s.raw, &total, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
#define SETS(values)                                                                                         \
    zetMetricGroupCalculateMultipleMetricValuesExp(s.group, VALUES, size, s.raw, &sets, &total, counts,      \
                                                   values)
    ok(SETS(NULL));
    values = (zet_typed_value_t *)calloc(total, sizeof *values);
    assert_non_null(values);
    ok(SETS(values));
#undef SETS
    assert_int_equal(sets, 2);
    assert_int_equal(counts[0], counts[1]);
    double groups = 0;
    for (uint32_t i = 0; i < total; i += metrics_in(s.group))
        groups += value_in(s.group, values + i, "GPGPU_THREADGROUP_COUNT");
    assert_true(groups == WORK_GROUPS);
    free(values);
    close_stream(&s);
}

/* ==== reading ========================================================================================= */

static void reading_takes_what_fits(void **state) {
    world *w = (world *)*state;
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    size_t size;
    for (uint32_t i = 0; i < 6; i++)
        mark(&s, i);
    finish_immediate(w, w->immediate);
    assert_true(bytes_there(&s) >= 6 * s.size);
    size = 2 * s.size + 1;
    ok(zetMetricStreamerReadData(s.handle, UINT32_MAX, &size, s.raw));
    assert_int_equal(size, 2 * s.size);
    assert_int_equal(read_reports(&s, 3, ZE_RESULT_SUCCESS), 3);
    size = s.size - 1;
    ok(zetMetricStreamerReadData(s.handle, UINT32_MAX, &size, s.raw));
    assert_int_equal(size, 0);
    gpu.behave(SOFTGPU_STREAMER_IGNORES_MAXIMUM, 1);
    assert_true(read_reports(&s, 0, ZE_RESULT_SUCCESS) >= 1);
    gpu.behave(SOFTGPU_STREAMER_IGNORES_MAXIMUM, 0);
    size = s.room;
    assert_result(zetMetricStreamerReadData(s.handle, 1, &size, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetMetricStreamerReadData(s.handle, 1, NULL, s.raw), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    close_stream(&s);
}

static void the_size_asked_for_is_the_capacity(void **state) {
    world *w = (world *)*state;
    size_t size = 0;
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    assert_true(s.room / s.size >= LEAST_CAPACITY);
    assert_int_equal(bytes_there(&s), 0);
    mark(&s, 1);
    finish_immediate(w, w->immediate);
    ok(zetMetricStreamerReadData(s.handle, UINT32_MAX, &size, NULL));
    assert_int_equal(size, s.room);
    assert_true(bytes_there(&s) >= s.size);
    close_stream(&s);
}

/* Reads with 20 reports or more, and without an overflow, until one has the result. */
static void await_result(stream *s, ze_result_t expected) {
    uint64_t limit = now_ns() + A_WHILE;
    ze_result_t result;
    size_t size;
    do {
        wait_for_reports(s, 20);
        size = s->room;
        result = zetMetricStreamerReadData(s->handle, UINT32_MAX, &size, s->raw);
    } while ((result != expected || size == s->room) && now_ns() < limit);
    assert_result(result, expected);
}

/* Periods that are shorter than a thread takes to wake up. */
static void missed_moments_are_told(void **state) {
    world *w = (world *)*state;
    stream s = open_stream(w, "ComputeBasic", 10000, 1, NULL);
    await_result(&s, ZE_RESULT_WARNING_DROPPED_DATA);
    gpu.behave(SOFTGPU_MISSED_MOMENTS_UNTOLD, 1);
    await_result(&s, ZE_RESULT_SUCCESS);
    close_stream(&s);
}

static void overflow(stream *s, uint32_t capacity) {
    for (uint32_t i = 0; i < capacity + 10; i++)
        mark(s, i);
    finish_immediate(s->w, s->w->immediate);
}

static void an_overflow_is_told_with_valid_data(void **state) {
    world *w = (world *)*state;
    uint32_t sets;
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    uint32_t capacity = (uint32_t)(s.room / s.size);
    assert_true(capacity >= LEAST_CAPACITY);
    overflow(&s, capacity);
    assert_int_equal(read_reports(&s, UINT32_MAX, ZE_RESULT_WARNING_DROPPED_DATA), capacity);
    zet_typed_value_t *values = calculate(s.group, s.raw, capacity * s.size, &sets);
    assert_int_equal(sets, capacity);
    double last = value_in(s.group, values + (capacity - 1) * metrics_in(s.group), "ReportId");
    free(values);
    mark(&s, 0);
    finish_immediate(w, w->immediate);
    uint32_t count = read_reports(&s, UINT32_MAX, ZE_RESULT_SUCCESS);
    assert_true(count >= 1);
    values = calculate(s.group, s.raw, s.size, &sets);
    assert_true(value_in(s.group, values, "ReportId") > last + 9); /* the gap shows */
    free(values);
    close_stream(&s);
}

static void an_overflow_can_fail_a_read(void **state) {
    world *w = (world *)*state;
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    uint32_t capacity = (uint32_t)(s.room / s.size);
    size_t size = s.room;
    gpu.behave(SOFTGPU_STREAMER_UNKNOWN, 1);
    overflow(&s, capacity);
    assert_result(zetMetricStreamerReadData(s.handle, UINT32_MAX, &size, s.raw), ZE_RESULT_ERROR_UNKNOWN);
    assert_true(read_sampled(&s) == capacity);
    close_stream(&s);
}

static void reports_are_announced(void **state) {
    world *w = (world *)*state;
    stream s = open_stream(w, "ComputeBasic", SLOW, 3, w->done);
    mark(&s, 1);
    mark(&s, 2);
    ok(zetCommandListAppendMetricMemoryBarrier(w->immediate));
    mark(&s, 3);
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
    close_stream(&s);
    s = open_stream(w, "ComputeBasic", PERIOD, 2, w->done);
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventQueryStatus(w->done)); /* it stays so */
    close_stream(&s);
    ok(zeEventHostReset(w->done));
}

/* ==== opening ========================================================================================= */

static void pace_can_be_rewritten(void **state) {
    world *w = (world *)*state;
    zet_metric_streamer_handle_t streamer;
    zet_metric_group_handle_t group = group_of(w->device, "ComputeBasic", BY_TIME);
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 100, 1000000};
    activate_one(w, group);
    ok(zetMetricStreamerOpen(w->context, w->device, group, &desc, NULL, &streamer));
    ok(zetMetricStreamerClose(streamer));
    assert_int_equal(desc.samplingPeriod, 1000000);
    assert_int_equal(desc.notifyEveryNReports, 100);
    gpu.behave(SOFTGPU_STREAMER_ROUNDS, 1);
    ok(zetMetricStreamerOpen(w->context, w->device, group, &desc, NULL, &streamer));
    ok(zetMetricStreamerClose(streamer));
    assert_int_equal(desc.samplingPeriod, 851968);
    assert_int_equal(desc.notifyEveryNReports, 113);
    deactivate(w, w->device);
}

static void opening_is_checked(void **state) {
    world *w = (world *)*state;
    zet_metric_streamer_handle_t streamer = NULL;
    ze_event_pool_handle_t pool;
    ze_event_handle_t hidden;
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 1};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, 0, 0};
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 1, PERIOD};
    zet_metric_group_handle_t by_time = group_of(w->device, "ComputeBasic", BY_TIME);
    zet_metric_group_handle_t by_event = group_of(w->device, "ComputeBasic", BY_EVENT);
#define REFUSED(group, event, expected)                                                                      \
    assert_result(try_open(w, group, PERIOD, 1, event, &streamer), ZE_RESULT_##expected)
    REFUSED(by_time, NULL, NOT_READY);
    activate_one(w, by_event);
    REFUSED(by_event, NULL, ERROR_INVALID_ARGUMENT);
    REFUSED(by_time, NULL, NOT_READY);
    activate_one(w, by_time);
    REFUSED(NULL, NULL, ERROR_INVALID_NULL_HANDLE);
    REFUSED(by_time, (ze_event_handle_t)w->context, ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    ok(zeEventPoolCreate(w->context, &pool_desc, 0, NULL, &pool));
    ok(zeEventCreate(pool, &event_desc, &hidden));
    REFUSED(by_time, hidden, ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    ok(zeEventDestroy(hidden));
    ok(zeEventPoolDestroy(pool));
    assert_result(zetMetricStreamerOpen(w->context, w->device, by_time, NULL, NULL, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetMetricStreamerOpen(w->context, w->device, by_time, &desc, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_result(zetMetricStreamerOpen(NULL, w->device, by_time, &desc, NULL, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    gpu.behave(SOFTGPU_NO_PERMISSION, 1);
    REFUSED(by_time, NULL, ERROR_UNKNOWN);
    gpu.behave(SOFTGPU_NO_PERMISSION, 0);
    gpu.behave(SOFTGPU_COUNTERS_HELD, 1);
    REFUSED(by_time, NULL, ERROR_UNKNOWN);
    gpu.reset();
#undef REFUSED
    assert_null(streamer);
    deactivate(w, w->device);
}

static void streamers_and_queries_exclude_each_other(void **state) {
    world *w = (world *)*state;
    zet_metric_streamer_handle_t first, second, again;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                         ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, 1};
    zet_metric_group_handle_t groups[] = {group_of(w->device, "ComputeBasic", BY_TIME),
                                          group_of(w->device, "HostScheduler", BY_TIME)};
    zet_metric_group_handle_t by_event = group_of(w->device, "ComputeBasic", BY_EVENT);
    activate(w, w->device, 2, groups);
    ok(try_open(w, groups[0], SLOW, 1, NULL, &first));
    assert_result(try_open(w, groups[0], SLOW, 1, NULL, &again), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ok(try_open(w, groups[1], SLOW, 1, NULL, &second));
    assert_result(zetMetricQueryPoolCreate(w->context, w->device, by_event, &desc, &pool),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetMetricStreamerClose(first));
    ok(zetMetricStreamerClose(second));
    ok(zetMetricQueryPoolCreate(w->context, w->device, by_event, &desc, &pool));
    assert_result(try_open(w, groups[0], SLOW, 1, NULL, &again), ZE_RESULT_ERROR_NOT_AVAILABLE);
    ok(zetMetricQueryPoolDestroy(pool));
    deactivate(w, w->device);
}

/* ==== mistakes ======================================================================================== */

static void mistakes_are_found(void **state) {
    world *w = (world *)*state;
    size_t size = 0;
    stream s = open_stream(w, "ComputeBasic", SLOW, 1, NULL);
    ok(zetCommandListAppendMetricStreamerMarker(w->list, s.handle, 1));
    ok(zeCommandListClose(w->list));
    deactivate(w, w->device);
    assert_int_equal(gpu.findings(), 1);
    close_stream(&s);
    assert_result(zetMetricStreamerClose(s.handle), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(gpu.findings(), 2);
    execute_unprofiled(w, w->list);
    assert_int_equal(gpu.findings(), 3);
    gpu.forget_findings();
    assert_result(zetMetricStreamerReadData(s.handle, 1, &size, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetCommandListAppendMetricStreamerMarker(w->immediate, s.handle, 1),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_result(zetCommandListAppendMetricStreamerMarker(NULL, NULL, 1),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

/* ==== calculation that keeps state ==================================================================== */

static uint32_t sets_of(stream *s, uint32_t reports, double *first_time) {
    uint32_t sets;
    zet_typed_value_t *values = calculate(s->group, s->raw, reports * s->size, &sets);
    *first_time = sets ? value_in(s->group, values, "GpuTime") : 0;
    free(values);
    return sets;
}

static double marked_reports(stream *s, uint32_t count, uint32_t expected_sets) {
    double first_time;
    for (uint32_t i = 0; i < count; i++)
        mark(s, i);
    finish_immediate(s->w, s->w->immediate);
    assert_int_equal(read_reports(s, UINT32_MAX, ZE_RESULT_SUCCESS), count);
    assert_int_equal(sets_of(s, count, &first_time), expected_sets);
    return first_time;
}

/* F24; a period so long that the clock keeps out of it. */
static void calculation_can_keep_state(void **state) {
    world *w = (world *)*state;
    stream s = open_stream(w, "ComputeBasic", UINT32_MAX, 1, NULL);
    marked_reports(&s, 4, 4); /* without the behaviour there is no state */
    gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, 1);
    marked_reports(&s, 4, 3);
    marked_reports(&s, 4, 4);
    close_stream(&s);
    uint64_t closed = now_ns();
    nap();
    s = open_stream(w, "ComputeBasic", UINT32_MAX, 1, NULL);
    uint64_t opened = now_ns();
    gpu.behave(SOFTGPU_CALCULATION_KEEPS_STATE, 1);
    double first_time = marked_reports(&s, 4, 4);
    assert_true(first_time > (double)(opened - closed)); /* it reaches back into the capture before */
    close_stream(&s);
}

/* ==== the end of the process ========================================================================== */

void __lsan_disable(void) __attribute__((weak));

/* What it leaves open is its leak, and meant. */
static void leave_a_streamer_open(void) {
    void *state = NULL;
    zet_metric_streamer_handle_t streamer = NULL;
    if (__lsan_disable)
        __lsan_disable();
    start(&state);
    open_world(&state);
    world *w = (world *)state;
    zet_metric_group_handle_t group = group_of(w->device, "ComputeBasic", BY_TIME);
    activate_one(w, group);
    exit(try_open(w, group, PERIOD, 1, NULL, &streamer) == ZE_RESULT_SUCCESS ? 0 : 1);
}

static int leaver_status = -1;

/* Bounded: it is stopped if it does not end. */
static void wait_for_leaver(pid_t leaver) {
    uint64_t limit = now_ns() + A_WHILE;
    pid_t ended = 0;
    while ((ended = waitpid(leaver, &leaver_status, WNOHANG)) == 0 && now_ns() < limit)
        nap();
    if (ended == 0) {
        kill(leaver, SIGKILL);
        waitpid(leaver, &leaver_status, 0);
    }
}

/* A process apart, and before this one has threads. */
static int start_after_leaver(void **state) {
    fflush(NULL);
    pid_t leaver = fork();
    if (leaver == 0)
        leave_a_streamer_open();
    wait_for_leaver(leaver);
    return start(state);
}

static void a_streamer_left_open_ends_with_the_process(void **state) {
    (void)state;
    assert_int_equal(leaver_status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(work_between_markers_is_measured),
        TEST(a_b580_streams_what_a_test_gives),
        TEST(markers_can_linger),
        TEST(the_clock_makes_reports_that_join),
        TEST(the_device_thread_is_sampled),
        TEST(tiles_have_a_block_each),
        TEST(reading_takes_what_fits),
        TEST(the_size_asked_for_is_the_capacity),
        TEST(missed_moments_are_told),
        TEST(an_overflow_is_told_with_valid_data),
        TEST(an_overflow_can_fail_a_read),
        TEST(reports_are_announced),
        TEST(pace_can_be_rewritten),
        TEST(opening_is_checked),
        TEST(streamers_and_queries_exclude_each_other),
        TEST(mistakes_are_found),
        TEST(calculation_can_keep_state),
        cmocka_unit_test(a_streamer_left_open_ends_with_the_process),
    };
    return cmocka_run_group_tests(tests, start_after_leaver, NULL);
}
