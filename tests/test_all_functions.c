/* Every public function, called from several threads at once, but for those that belong to one thread: what
   opens and closes, passes and benchmarks. Meant for ThreadSanitizer; elsewhere it looks for what comes out
   wrong. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, TURNS = INSTRUMENTED ? 10 : 40 };

typedef struct caller {
    world *w;
    zt_profiler *profiler, *sum; /* `sum` is merged into */
    zt_stream *stream;
    zt_debugger *debugger;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t immediate, recorded;
    ze_kernel_handle_t kernel;
    pthread_t thread;
    size_t written;
    uint64_t regions;
    int number, failed;
} caller;

/* Asserts are for the thread that runs the test: others count, and say what it was. */
static int expect_(int holds, const char *condition) {
    if (!holds)
        fprintf(stderr, "# not so: %s\n", condition);
    return !holds;
}

#define EXPECT(condition) (me->failed += expect_(condition, #condition))

static int ignore_row(const zt_row *row, void *user) {
    (void)row, (void)user;
    return 0;
}

static int count_bytes(const void *bytes, size_t size, void *written) {
    (void)bytes;
    *(size_t *)written += size;
    return 0;
}

static void ignore_sample(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
}

/* ==== by capability ======================================================================================= */

static void call_regions(caller *me, int turn) {
    char name[32];
    snprintf(name, sizeof name, "thread %d, region %d", me->number, turn % 5);
    append_kernel(me->profiler, me->immediate, me->kernel, name);
    ZT_REGION(me->profiler, me->immediate, "shared")
    launch_kernel(me->immediate, me->kernel);
    EXPECT(zt_name_list(me->profiler, me->recorded, name) == ZE_RESULT_SUCCESS);
    append_kernel(me->profiler, me->recorded, me->kernel, "recorded");
    EXPECT(zeCommandListClose(me->recorded) == ZE_RESULT_SUCCESS);
    for (int i = 0; i < 3; i++)
        EXPECT(zt_execute(me->profiler, me->queue, 1, &me->recorded, NULL) == ZE_RESULT_SUCCESS);
    EXPECT(zeCommandQueueSynchronize(me->queue, A_WHILE) == ZE_RESULT_SUCCESS);
    me->regions += 5;
    if (turn % 2) {
        EXPECT(zt_reset(me->profiler, me->recorded) == ZE_RESULT_SUCCESS);
    } else {
        zt_release(me->profiler, me->recorded);
        EXPECT(zeCommandListReset(me->recorded) == ZE_RESULT_SUCCESS);
    }
    zt_collect(me->profiler, turn % 8 ? 0 : 1000000);
}

static void call_results(caller *me) {
    zt_region_info info;
    zt_limit_info limit;
    zt_stats stats;
    const zt_profiler *profiler = me->profiler;
    zt_counts counts = zt_get_info(profiler).counts;
    EXPECT(counts.begun == counts.collected + counts.lost + counts.dropped + counts.in_flight);
    EXPECT(zt_get_info(profiler).pass_count == 1);
    EXPECT(zt_get_info(profiler).tile_count == 0);
    EXPECT(zt_get_info(profiler).metric_count > 0);
    uint32_t metric = zt_find_metric(profiler, "GpuTime");
    EXPECT(zt_get_metric(profiler, metric) != NULL);
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        EXPECT(zt_get_region(profiler, i, &info) == ZE_RESULT_SUCCESS);
        EXPECT(info.name[0] != 0);
        EXPECT(zt_get_stats(profiler, i, metric, &stats) == ZE_RESULT_SUCCESS);
        EXPECT(zt_get_stats(profiler, i, ZT_PASS_TIME(0), &stats) == ZE_RESULT_SUCCESS);
        zt_get_stats(profiler, i, ZT_TILE(0, metric), &stats);
        EXPECT(zt_get_stats(profiler, i, ZT_QUEUE_LATENCY, &stats) == ZE_RESULT_SUCCESS);
        EXPECT(zt_get_stats(profiler, i, ZT_LAUNCH_LATENCY, &stats) == ZE_RESULT_SUCCESS);
        EXPECT(zt_get_limit(profiler, i, &limit) == ZE_RESULT_SUCCESS);
        EXPECT(limit.text[0] != 0 && limit.name[0] != 0);
    }
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
        zt_region_info path;
        EXPECT(zt_get_region(profiler, ZT_PATH(i), &path) == ZE_RESULT_SUCCESS);
        EXPECT(path.region < zt_get_info(profiler).region_count);
    }
    for (int cause = 0; cause < ZT_CAUSE_COUNT; cause++) {
        EXPECT(zt_get_info(profiler).causes[(zt_cause)cause].count == 0);
        EXPECT(zt_get_info(NULL).causes[(zt_cause)cause].name[0] != 0);
    }
    EXPECT(zt_get_info(profiler).availability == ZT_AVAILABLE);
    EXPECT(zt_get_info(profiler).availability_text[0] != 0);
}

static void call_errors(caller *me) {
    zt_stats stats;
    zet_metric_group_handle_t group;
    const char *text;
    EXPECT(zt_get_stats(me->profiler, 100000u + (uint32_t)me->number, 0, &stats) != ZE_RESULT_SUCCESS);
    text = zt_get_info(me->profiler).error;
    EXPECT(strstr(text, "zt_") != NULL); /* another thread's, if that came later */
    EXPECT(last_result() != ZE_RESULT_SUCCESS);
    EXPECT(zt_find_metric(me->profiler, "NoSuchMetric") == UINT32_MAX);
    EXPECT(zt_find_group(me->w->device, "NoSuchGroup", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
                         &group) != ZE_RESULT_SUCCESS);
    EXPECT(strstr(zt_last_error(NULL), "NoSuchGroup") != NULL); /* of this thread alone */
    EXPECT(last_result() != ZE_RESULT_SUCCESS);
    EXPECT(zt_result_name(ZE_RESULT_NOT_READY)[0] == 'Z');
}

static void call_reports(caller *me) {
    char path[64];
    size_t size = 0;
    EXPECT(zt_set_peaks(me->profiler, 1e9, 1e12, NULL) == ZE_RESULT_SUCCESS);
    EXPECT(zt_set_operations(me->profiler, "region", 1e6) == ZE_RESULT_SUCCESS);
    for (int format = ZT_FORMAT_TABLE; format <= ZT_FORMAT_FOLDED; format++) {
        me->written = 0;
        EXPECT(zt_write(me->profiler, (zt_format)format, count_bytes, &me->written) == ZE_RESULT_SUCCESS);
        EXPECT(me->written > 0);
    }
    me->written = 0;
    EXPECT(zt_write_groups(me->w->device, 0, count_bytes, &me->written) == ZE_RESULT_SUCCESS);
    snprintf(path, sizeof path, "/tmp/zetools-all-%p-%d.csv", (void *)me->w, me->number);
    EXPECT(zt_report(me->profiler, path) == ZE_RESULT_SUCCESS);
    remove(path);

    EXPECT(zt_pack(me->profiler, NULL, &size) == ZE_RESULT_SUCCESS);
    size += 1 << 16; /* other threads add to it meanwhile */
    void *bytes = malloc(size);
    EXPECT(bytes && zt_pack(me->profiler, bytes, &size) == ZE_RESULT_SUCCESS);
    zt_profiler *unpacked = NULL;
    EXPECT(zt_unpack(bytes, size, NULL, &unpacked) == ZE_RESULT_SUCCESS);
    EXPECT(zt_merge(me->sum, unpacked) == ZE_RESULT_SUCCESS);
    EXPECT(zt_merge(me->sum, me->profiler) == ZE_RESULT_SUCCESS);
    zt_close(unpacked);
    free(bytes);
}

static void call_streams(caller *me) {
    zt_stats streamed;
    zt_stream_read(me->stream, 0, ignore_row, NULL);
    zt_stream_mark(me->stream, me->immediate, "mark");
    zt_stream_info info = zt_stream_get_info(me->stream);
    EXPECT(info.counts.reports == info.counts.rows + info.counts.discarded + info.counts.waiting);
    EXPECT(info.group[0] != 0 && info.error != NULL);
    EXPECT(info.metric_count > 0 && info.metrics != NULL);
    EXPECT(zt_stream_find_metric(me->stream, "NoSuchMetric") == UINT32_MAX);
    EXPECT(strstr(zt_last_error(NULL), "NoSuchMetric") != NULL); /* of this thread alone */
    EXPECT(zt_get_info(me->profiler).streamed_count > 0);
    EXPECT(zt_get_metric(me->profiler, ZT_STREAMED(0)) != NULL);
    zt_get_stats(me->profiler, 0, ZT_STREAMED(0), &streamed);
    zt_get_timeline(me->profiler);
}

static void call_tracer(caller *me) {
    zt_call_info call;
    zt_hotspot_info hotspot;
    zt_kernel_info kernel;
    EXPECT(zt_replace(me->profiler, "none", me->w->module, "saxpy") == ZE_RESULT_SUCCESS);
    EXPECT(zt_replace(me->profiler, "none", NULL, NULL) == ZE_RESULT_SUCCESS);
    zt_get_info(me->profiler);
    for (uint32_t i = 0; i < zt_get_info(me->profiler).call_count; i++)
        EXPECT(zt_get_call(me->profiler, i, &call) == ZE_RESULT_SUCCESS);
    EXPECT(zt_hotspots_start(me->profiler, NULL) != ZE_RESULT_SUCCESS); /* this device has no such group */
    EXPECT(zt_hotspots_stop(me->profiler) == ZE_RESULT_SUCCESS);
    EXPECT(zt_get_info(me->profiler).hotspots.samples == 0);
    EXPECT(zt_get_info(me->profiler).hotspot_count == 0);
    EXPECT(zt_get_hotspot(me->profiler, 0, &hotspot) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    for (uint32_t i = 0; i < zt_get_info(me->profiler).kernel_count; i++)
        EXPECT(zt_get_kernel(me->profiler, i, &kernel) == ZE_RESULT_SUCCESS && kernel.launches > 0);
}

/* One debugger, of this process itself. */
static void call_debugger(caller *me) {
    const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
    const zt_debug_thread one = {0, 0, 0, 0};
    zt_debug_stops stops;
    zt_debug_registers found;
    zt_debug_thread_info threads[4];
    zt_debug_place place;
    uint64_t word = 0;
    uint32_t count = 4;
    zt_debug_wait(me->debugger, 0, NULL, NULL);
    EXPECT(zt_debug_stop(me->debugger, all, A_WHILE, &stops) == ZE_RESULT_SUCCESS);
    EXPECT(zt_debug_get_threads(me->debugger, threads, &count) == ZE_RESULT_SUCCESS);
    zt_debug_where(me->debugger, count ? threads[0].address : 0,
                   &place); /* another thread may have resumed it */
    count = 1;
    EXPECT(zt_debug_get_registers(me->debugger, "f0", &found, &count) == ZE_RESULT_SUCCESS && count == 1);
    zt_debug_read(me->debugger, one, found.space, found.address, &word, found.bytes);
    EXPECT(zt_debug_write(me->debugger, one, found.space, found.address, &word, 0) == ZE_RESULT_SUCCESS);
    EXPECT(zt_debug_resume(me->debugger, all) == ZE_RESULT_SUCCESS);
    EXPECT(zt_debug_read(me->debugger, all, ZT_DEBUG_MEMORY, (uintptr_t)&me->debugger, &word, sizeof word) ==
           ZE_RESULT_SUCCESS);
    EXPECT(zt_debug_write(me->debugger, all, ZT_DEBUG_MEMORY, (uintptr_t)&word, &word, sizeof word) ==
           ZE_RESULT_SUCCESS);
    EXPECT(zt_get_info(me->profiler).watch.hangs == 0);
}

static void *call_everything(void *argument) {
    caller *me = (caller *)argument;
    for (int turn = 0; turn < TURNS; turn++) {
        call_regions(me, turn);
        switch ((turn + me->number) % 6) {
        case 0:
            call_results(me);
            break;
        case 1:
            call_errors(me);
            break;
        case 2:
            call_reports(me);
            break;
        case 3:
            call_streams(me);
            break;
        case 4:
            call_debugger(me);
            break;
        default:
            call_tracer(me);
            break;
        }
    }
    return NULL;
}

/* ==== all at once ========================================================================================= */

static void create_caller(caller *me, world *w, int number) {
    ze_command_queue_desc_t queue = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    me->w = w;
    me->number = number;
    ok(zeCommandQueueCreate(w->context, w->device, &queue, &me->queue));
    create_immediate(w, &me->immediate);
    create_list(w, &me->recorded);
    create_kernel(w, &me->kernel);
}

static void destroy_caller(caller *me) {
    ok(zeCommandListDestroy(me->immediate));
    ok(zeCommandListDestroy(me->recorded));
    ok(zeCommandQueueDestroy(me->queue));
    ok(zeKernelDestroy(me->kernel));
}

static zt_profiler *open_with_everything(world *w, int with_thread) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.timeline = 1000;
    config.probes_per_step = 32;
    config.thread = with_thread;
    config.sample = ignore_sample;
    return open_profiler(w, &config);
}

static zt_stream *open_stream(world *w, zt_profiler *profiler) {
    zt_stream_config config = {0};
    zt_stream *stream = NULL;
    config.group = "HostScheduler";
    config.profiler = profiler;
    config.thread = 1;
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    return stream;
}

static void call_from_all_threads(world *w, int with_thread) {
    caller callers[THREADS];
    uint64_t regions = 0;
    int failed = 0;
    zt_profiler *profiler = open_with_everything(w, with_thread);
    zt_profiler *sum = open_groups(w, "ComputeBasic");
    zt_stream *stream = open_stream(w, profiler);
    zt_debugger *debugger = NULL;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zt_debug_open(w->device, 0, NULL, &debugger));
    memset(callers, 0, sizeof callers);
    for (int i = 0; i < THREADS; i++) {
        callers[i].profiler = profiler;
        callers[i].sum = sum;
        callers[i].stream = stream;
        callers[i].debugger = debugger;
        create_caller(&callers[i], w, i);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_everything, &callers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        join_in_time(w, callers[i].thread);
        finish_immediate(w, callers[i].immediate);
        regions += callers[i].regions;
        failed += callers[i].failed;
    }
    ok(zt_debug_close(debugger));
    collect_all(profiler);
    zt_stream_close(stream, NULL, NULL, NULL);
    zt_counts counts = zt_get_info(profiler).counts;
    uint64_t shared = region_info(profiler, "shared").count;
    uint64_t recorded = region_info(profiler, "recorded").count;
    close_profiler(w, sum);
    close_profiler(w, profiler);
    for (int i = 0; i < THREADS; i++)
        destroy_caller(&callers[i]);
    assert_int_equal(failed, 0);
    assert_int_equal(counts.begun, regions);
    assert_int_equal(counts.collected, regions);
    assert_int_equal(shared, THREADS * TURNS);
    assert_int_equal(recorded, 3 * THREADS * TURNS);
}

static void test_all_functions(void **state) {
    call_from_all_threads(*state, 0);
}

static void test_all_functions_with_a_thread(void **state) {
    call_from_all_threads(*state, 1);
}

/* Profilers of their own, opened one at a time, as the manual wants it on one device, beside all the rest. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static void *open_and_close(void *argument) {
    caller *me = (caller *)argument;
    for (int i = 0; i < 10; i++) {
        zt_config config = {0};
        config.groups = me->number % 2 ? "ComputeBasic" : "";
        config.thread = me->number / 2 % 2;
        pthread_mutex_lock(&opening);
        EXPECT(zt_open(me->w->context, me->w->device, &config, &me->profiler) == ZE_RESULT_SUCCESS);
        pthread_mutex_unlock(&opening);
        append_kernel(me->profiler, me->immediate, me->kernel, "region");
        EXPECT(zt_collect(me->profiler, A_WHILE) == ZE_RESULT_SUCCESS);
        EXPECT(zt_get_info(me->profiler).counts.collected == 1);
        ze_result_t released = zt_release(me->profiler, me->immediate); /* the thread may be at it */
        EXPECT(released == ZE_RESULT_SUCCESS || (config.thread && released == ZE_RESULT_NOT_READY));
        pthread_mutex_lock(&opening);
        zt_close(me->profiler);
        pthread_mutex_unlock(&opening);
    }
    return NULL;
}

static void test_profilers_come_and_go(void **state) {
    world *w = *state;
    caller callers[THREADS];
    int failed = 0;
    memset(callers, 0, sizeof callers);
    zt_profiler *first = open_groups(w, "ComputeBasic"); /* its group stays active */
    for (int i = 0; i < THREADS; i++)
        create_caller(&callers[i], w, i);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&callers[i].thread, NULL, open_and_close, &callers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        join_in_time(w, callers[i].thread);
        failed += callers[i].failed;
        finish_immediate(w, callers[i].immediate);
        destroy_caller(&callers[i]);
    }
    assert_int_equal(failed, 0);
    run(w, first, "region");
    collect_all(first);
    assert_counts(first, counted(1, 1, 0, 0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_all_functions),
        TEST(test_all_functions_with_a_thread),
        TEST(test_profilers_come_and_go),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
