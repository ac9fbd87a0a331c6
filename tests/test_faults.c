/* Whatever fails in the profiling - a function for good, several calls of a random program, the device itself
   - the application's kernels run and are right, everything is counted, and nothing is leaked. That each call
   fails once, or loses the device, is in test_every_call.c. */
#include "fixture.h"
#include "softgpu/system.h"

#include <stdlib.h>
#include <string.h>

/* The application's own call: an injected fault hits it once, and it tries again. */
#define app(call)                                                                                            \
    do {                                                                                                     \
        if ((call) != ZE_RESULT_SUCCESS)                                                                     \
            ok(call);                                                                                        \
    } while (0)

static void app_finish(world *w) {
    app(zeCommandListAppendBarrier(w->immediate, w->done, 0, NULL));
    app(zeEventHostSynchronize(w->done, A_WHILE));
    app(zeEventHostReset(w->done));
    app(zeCommandQueueSynchronize(w->queue, A_WHILE));
}

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void write_all(zt_profiler *profiler) {
    zt_write(profiler, ZT_FORMAT_TABLE, discard, NULL);
    zt_write(profiler, ZT_FORMAT_CSV, discard, NULL);
    zt_write(profiler, ZT_FORMAT_JSON, discard, NULL);
    zt_write(profiler, ZT_FORMAT_HTML, discard, NULL);
}

/* ==== functions that go on failing ======================================================================== */

static const char *const functions[] = {
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments) #name,
#include "softgpu/functions.def"
#undef SG_FUNCTION
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static int destroys(const char *function) {
    size_t length = strlen(function);
    return strstr(function, "Destroy") == function + length - 7;
}

/* A function that goes on failing. */
static void test_calls_fail_for_good(void **state) {
    world *w = *state;
    const char *own[] = {"zetCommandListAppendMetricQueryBegin",
                         "zetCommandListAppendMetricQueryEnd",
                         "zetMetricQueryGetData",
                         "zetMetricGroupCalculateMetricValues",
                         "zetMetricQueryReset",
                         "zetMetricQueryCreate",
                         "zetMetricQueryPoolCreate",
                         "zetContextActivateMetricGroups"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        zt_profiler *profiler = NULL;
        zt_config config = config_of(w);
        config.wait_timeout_ns = 200000000;
        for (int j = 0; j < 10; j++) {
            inject(own[i], 1, ZE_RESULT_ERROR_UNKNOWN);
            if (!profiler)
                ok(zt_open(w->context, w->device, &config, &profiler));
            inject(own[i], 1, ZE_RESULT_ERROR_UNKNOWN);
            run(w, profiler, "failing");
            zt_collect(profiler, 1000000);
            check_identity(profiler);
        }
        inject(own[i], 0, ZE_RESULT_SUCCESS);
        zt_close(profiler);
        check_work(w);
    }
}

/* ==== the device is lost ================================================================================== */

/* What was in flight is lost, what comes after is dropped, and everything says so. */
static void test_device_loss_is_told(void **state) {
    world *w = *state;
    zt_profiler *profiler = open_groups(w, "ComputeBasic");
    run(w, profiler, "before");
    collect_all(profiler);
    ze_event_handle_t gate = append_gate(w, w->immediate);
    append(w, profiler, w->immediate, "in flight");
    gpu.lose_device();
    assert_result(zt_collect(profiler, A_WHILE), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_counts(profiler, counted(2, 1, 1, 0, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_LOST_DEVICE].count, 1);
    zt_region region = zt_begin(profiler, w->immediate, "after");
    zt_end(&region);
    assert_counts(profiler, counted(3, 1, 1, 1, 0));
    assert_int_equal(zt_get_info(profiler).causes[ZT_DROPPED_DEVICE_LOST].count, 1);
    assert_int_equal(zt_get_info(profiler).availability, ZT_DEVICE_LOST);
    assert_int_equal(heard(w, "DEVICE_LOST"), 1);
    assert_int_equal(region_info(profiler, "before").count, 1);
    write_all(profiler);
    close_profiler(w, profiler);
    gpu.restore_device();
    ok(zeEventDestroy(gate));
}

/* ==== programs at random, in which calls fail ============================================================= */

typedef struct program {
    world *w;
    uint64_t random;
    zt_profiler *profilers[2];
    int has_thread[2]; /* which changes counts while they are compared */
    zt_stream *stream;
    int has_commands; /* of the recorded list */
    int is_closed;
} program;

static uint32_t draw(program *p, uint32_t below) {
    p->random = p->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(p->random >> 33) % below;
}

static zt_profiler *any_profiler(program *p) {
    return p->profilers[draw(p, 2)];
}

static void open_one(program *p, int i) {
    static const char *const groups[] = {"ComputeBasic,HostScheduler", "ComputeBasic", ""};
    zt_config config = config_of(p->w);
    config.groups = groups[p->random >> 40 & 1 ? 2 : draw(p, 3)];
    config.probes_per_step = 2;
    config.max_probes = 16;
    config.samples = 4;
    config.timeline = 8;
    config.thread = p->has_thread[i] = draw(p, 8) == 0;
    config.wait_timeout_ns = 200000000;
    zt_open(p->w->context, p->w->device, &config, &p->profilers[i]);
}

/* The application's work is done, and its lists are not executed any more. */
static void finish_work(program *p) {
    world *w = p->w;
    app_finish(p->w);
    for (int i = 0; i < 2; i++)
        zt_release(p->profilers[i], w->list);
    app(zeCommandListReset(w->list));
    for (int i = 0; i < 2; i++)
        zt_release(p->profilers[i], w->list);
    p->has_commands = p->is_closed = 0;
}

static void nested_work(program *p, zt_profiler *profiler, ze_command_list_handle_t list) {
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    zt_region outer = zt_begin(profiler, list, draw(p, 2) ? "outer" : "other");
    zt_region inner = zt_begin(any_profiler(p), list, "inner");
    app(zeCommandListAppendLaunchKernel(list, p->w->kernel, &groups, NULL, 0, NULL));
    zt_end(&inner);
    if (p->stream && draw(p, 2))
        zt_stream_mark(p->stream, list, "marker");
    zt_end(&outer);
}

static void execute_work(program *p, zt_profiler *profiler) {
    world *w = p->w;
    if (!p->is_closed)
        app(zeCommandListClose(w->list));
    p->is_closed = 1;
    app(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    w->launches += (uint32_t)p->has_commands;
    /* The other profiler does not see this, so no more of it may come before it is collected. */
    app_finish(p->w);
    zt_collect(p->profilers[0], 1000000);
    zt_collect(p->profilers[1], 1000000);
}

static void pack_and_merge(program *p) {
    zt_profiler *from = any_profiler(p), *unpacked = NULL;
    static unsigned char bytes[1 << 20];
    size_t size = sizeof bytes;
    if (zt_pack(from, bytes, &size) != ZE_RESULT_SUCCESS || !from)
        return;
    zt_config config = config_of(p->w);
    if (zt_unpack(bytes, size, &config, &unpacked) != ZE_RESULT_SUCCESS)
        return;
    check_identity(unpacked);
    zt_merge(unpacked, any_profiler(p));
    check_identity(unpacked);
    zt_merge(any_profiler(p), unpacked);
    write_all(unpacked);
    zt_close(unpacked);
}

static void open_or_close_stream(program *p) {
    if (p->stream) {
        finish_work(p); /* which may mark it */
        zt_stream_close(p->stream, NULL, NULL, NULL);
        p->stream = NULL;
        return;
    }
    zt_stream_config config = {0};
    config.profiler = any_profiler(p);
    config.period_ns = 100000;
    config.memory_limit = 1 << 20;
    config.thread = draw(p, 4) == 0;
    zt_stream_open(p->w->context, p->w->device, &config, &p->stream);
}

static void fail_somewhere(program *p) {
    static const ze_result_t results[] = {ZE_RESULT_ERROR_UNKNOWN, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                                          ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_NOT_READY};
    const char *function = functions[draw(p, FUNCTIONS)];
    /* What the driver does not free stays in its ledger. Without the barrier after a refused command, nothing
       shows when the others have run, and the library keeps what they use. */
    if (!destroys(function) && strcmp(function, "zetMetricStreamerClose") != 0 &&
        strcmp(function, "zeMemFree") != 0 && strcmp(function, "zeCommandListAppendBarrier") != 0)
        inject(function, 1 + draw(p, 3), results[draw(p, 4)]);
}

static void do_something(program *p) {
    world *w = p->w;
    zt_profiler *profiler = any_profiler(p);
    switch (draw(p, 16)) {
    case 0:
    case 1:
    case 2:
        nested_work(p, profiler, w->immediate);
        w->launches++;
        break;
    case 3:
    case 4:
        if (!p->is_closed) {
            nested_work(p, profiler, w->list);
            p->has_commands++;
        }
        break;
    case 5:
    case 6:
        execute_work(p, profiler);
        break;
    case 7:
        finish_work(p);
        break;
    case 8:
        zt_collect(profiler, draw(p, 2) * 1000000);
        break;
    case 9:
        pack_and_merge(p);
        break;
    case 10:
        zt_merge(profiler, any_profiler(p));
        break;
    case 11:
        write_all(profiler);
        break;
    case 12:
        open_or_close_stream(p);
        break;
    case 13:
        if (p->stream)
            zt_stream_read(p->stream, 0, NULL, NULL);
        break;
    case 14: {
        int i = (int)draw(p, 2);
        finish_work(p);
        zt_close(p->profilers[i]);
        p->profilers[i] = NULL;
        open_one(p, i);
        break;
    }
    default:
        break;
    }
}

static void forget_faults(void) {
    for (int i = 0; i < FUNCTIONS; i++)
        inject(functions[i], 0, ZE_RESULT_SUCCESS);
}

/* A query whose reset has failed begins again without one if its list is executed by other means than
   zt_execute of its profiler, such as that of the other one. */
static void forget_repeated_begins(void) {
    char text[4096];
    uint64_t known = 0;
    gpu.ledger(text, sizeof text);
    for (const char *at = text; (at = strstr(at, "finding: a metric query was begun again")) != NULL; at++)
        known++;
    if (known == gpu.findings())
        gpu.forget_findings();
}

static void run_program(world *w, uint64_t seed) {
    program p;
    int64_t bytes;
    uint64_t live_objects;
    memset(&p, 0, sizeof p);
    p.w = w;
    p.random = seed;
    bytes = heap_bytes();
    live_objects = gpu.live();
    for (int i = 0; i < 2; i++)
        open_one(&p, i);
    for (int i = 0; i < 60; i++) {
        if (draw(&p, 3) == 0)
            fail_somewhere(&p);
        do_something(&p);
        for (int k = 0; k < 2; k++)
            if (!p.has_thread[k])
                check_identity(p.profilers[k]);
    }
    finish_work(&p);
    zt_stream_close(p.stream, NULL, NULL, NULL);
    zt_close(p.profilers[0]);
    zt_close(p.profilers[1]);
    forget_faults();
    app_finish(w);
    check_work(w);
    forget_repeated_begins();
    if (heap_bytes() != bytes || gpu.live() != live_objects || gpu.findings()) {
        char text[4096];
        gpu.ledger(text, sizeof text);
        fail_msg("seed %llu: %lld bytes, %lld objects\n%s", (unsigned long long)seed,
                 (long long)(heap_bytes() - bytes), (long long)(gpu.live() - live_objects), text);
    }
}

static void test_programs_in_which_calls_fail(void **state) {
    const char *first = getenv("SEED"), *count = getenv("SEEDS"); /* to look for more */
    uint64_t from = first ? strtoull(first, NULL, 10) : 1;
    uint64_t to = from + (count ? strtoull(count, NULL, 10) : OFTEN(200));
    for (uint64_t seed = from; seed < to; seed++)
        run_program((world *)*state, seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_calls_fail_for_good),
        TEST(test_device_loss_is_told),
        TEST(test_programs_in_which_calls_fail),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
