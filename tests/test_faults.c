/* Whatever fails in the profiling - any driver function at any of its calls, any allocation, the device
   itself - the application's kernels run and are right, everything is counted, and nothing is leaked. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

/* ==== a life of a profiler, in which things fail ========================================================== */

typedef struct life {
    world *w;
    ze_command_list_handle_t never; /* recorded and never executed */
    zt_allocator allocator;
    int step, lose_at; /* the device is lost at this step; 0: never */
    int lost;
} life;

/* The application's own call: an injected fault hits it once, and it tries again. */
#define app(me, call)                                                                                        \
    do {                                                                                                     \
        if ((call) != ZE_RESULT_SUCCESS && !(me)->lost)                                                      \
            ok(call);                                                                                        \
    } while (0)

static void step(life *me) {
    if (++me->step != me->lose_at)
        return;
    me->lost = 1;
    gpu.lose_device();
}

static void app_launch(life *me, ze_command_list_handle_t list) {
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    app(me, zeCommandListAppendLaunchKernel(list, me->w->kernel, &groups, NULL, 0, NULL));
}

static void app_finish(life *me) {
    world *w = me->w;
    app(me, zeCommandListAppendBarrier(w->immediate, w->done, 0, NULL));
    app(me, zeEventHostSynchronize(w->done, A_WHILE));
    app(me, zeEventHostReset(w->done));
    app(me, zeCommandQueueSynchronize(w->queue, A_WHILE));
}

static void app_execute(life *me, zt_profiler *profiler) {
    world *w = me->w;
    app(me, zt_execute(profiler, w->queue, 1, &w->list, NULL));
}

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void nested_regions(life *me, zt_profiler *profiler, ze_command_list_handle_t list) {
    zt_region outer = zt_begin(profiler, list, "outer");
    app_launch(me, list);
    step(me);
    zt_region inner = zt_begin(profiler, list, "inner");
    app_launch(me, list);
    step(me);
    zt_end(&inner);
    zt_end(&outer);
    step(me);
}

static void immediate_life(life *me, zt_profiler *profiler) {
    for (int i = 0; i < 3; i++) {
        nested_regions(me, profiler, me->w->immediate);
        me->w->launches += 2;
    }
    zt_collect(profiler, 0);
    check_identity(profiler);
    app_finish(me);
    step(me);
    zt_collect(profiler, 20000000);
    check_identity(profiler);
}

static void recorded_life(life *me, zt_profiler *profiler) {
    world *w = me->w;
    nested_regions(me, profiler, w->list);
    app(me, zeCommandListClose(w->list));
    for (int i = 0; i < 3; i++) {
        app_execute(me, profiler);
        w->launches += 2;
        step(me);
        check_identity(profiler);
    }
    app_finish(me);
    zt_collect(profiler, 20000000);
    step(me);
    zt_release(profiler, w->list);
    check_identity(profiler);
    app(me, zeCommandListReset(w->list));
}

static void write_all(zt_profiler *profiler) {
    zt_write(profiler, ZT_FORMAT_TABLE, discard, NULL);
    zt_write(profiler, ZT_FORMAT_CSV, discard, NULL);
    zt_write(profiler, ZT_FORMAT_JSON, discard, NULL);
    zt_write(profiler, ZT_FORMAT_HTML, discard, NULL);
}

static void live(life *me) {
    world *w = me->w;
    zt_profiler *profiler = NULL;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,HostScheduler";
    config.slots_per_step = 4;
    config.wait_timeout_ns = 200000000;
    config.allocator = me->allocator;
    step(me);
    if (zt_open(w->context, w->device, &config, &profiler) != ZE_RESULT_SUCCESS)
        assert_null(profiler);
    step(me);
    immediate_life(me, profiler);
    recorded_life(me, profiler);
    recorded_life(me, profiler);
    nested_regions(me, profiler, me->never);
    write_all(profiler);
    step(me);
    check_identity(profiler);
    zt_release(profiler, me->never); /* it may be taken for one that is running, if nobody could tell */
    zt_close(profiler);
}

/* A life on its own ground, which is as it was afterwards, the application's results included. */
static life life_in(world *w) {
    life me;
    memset(&me, 0, sizeof me);
    me.w = w;
    create_list(w, &me.never);
    return me;
}

static void end_life(life *me) {
    world *w = me->w;
    if (me->lost)
        gpu.restore_device();
    app(me, zeCommandListReset(w->list));
    app(me, zeCommandListDestroy(me->never));
    app(me, zeEventHostReset(w->done));
    if (!me->lost) {
        check_work(w);
        return;
    }
    w->launches = 0; /* what ran of them nobody knows */
    memset(w->sums, 0, WORK_ITEMS * sizeof(float));
}

static void whole_life(life *me, const char *what, uint32_t n) {
    int64_t bytes = heap_bytes();
    uint64_t live_objects = gpu.live() - 1; /* without the list of `me` */
    live(me);
    end_life(me);
    if (heap_bytes() != bytes)
        fail_msg("%s %u: %lld bytes leaked", what, n, (long long)(heap_bytes() - bytes));
    if (gpu.findings() || gpu.live() != live_objects) {
        char text[4096];
        gpu.ledger(text, sizeof text);
        fail_msg("%s %u: %llu objects, not %llu\n%s", what, n, (unsigned long long)gpu.live(),
                 (unsigned long long)live_objects, text);
    }
}

/* ==== every function, at every call ======================================================================= */

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

/* How often a life calls each function. */
static void count_calls(world *w, uint32_t counts[FUNCTIONS]) {
    life me = life_in(w);
    gpu.reset_calls();
    live(&me);
    for (int i = 0; i < FUNCTIONS; i++)
        counts[i] = (uint32_t)calls(functions[i]);
    end_life(&me);
}

/* Early calls one by one, then some of the many, and the last. */
static uint32_t next_call(uint32_t n, uint32_t count) {
    const uint32_t closely = INSTRUMENTED ? 4 : 8;
    uint32_t next = n < closely ? n + 1 : n + 1 + n / 2;
    return n < count && next > count ? count : next;
}

static void fail_everywhere(world *w, ze_result_t result, int destructions) {
    uint32_t counts[FUNCTIONS];
    int failed = 0;
    count_calls(w, counts);
    for (int i = 0; i < FUNCTIONS; i++) {
        if (destroys(functions[i]) != destructions)
            continue;
        for (uint32_t n = 1; n <= counts[i]; n = next_call(n, counts[i])) {
            life me = life_in(w);
            inject(functions[i], n, result);
            if (result == ZE_RESULT_ERROR_DEVICE_LOST) {
                live(&me);
                gpu.forget_findings(); /* of a device that is not lost: nothing was reset for it any more */
                end_life(&me);
            } else if (destructions) {
                live(&me);
                end_life(&me);
            } else {
                whole_life(&me, functions[i], n);
            }
            inject(functions[i], 0, ZE_RESULT_SUCCESS);
            failed++;
        }
    }
    assert_true(failed > (destructions ? 3 : 50));
}

static void test_any_call_fails(void **state) {
    fail_everywhere((world *)*state, ZE_RESULT_ERROR_UNKNOWN, 0);
}

static void test_any_call_runs_out_of_memory(void **state) {
    fail_everywhere((world *)*state, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, 0);
}

static void test_any_call_says_the_device_is_lost(void **state) {
    fail_everywhere((world *)*state, ZE_RESULT_ERROR_DEVICE_LOST, 0);
}

/* What the driver does not destroy stays in its ledger: that is its own affair. */
static void test_any_destruction_fails(void **state) {
    fail_everywhere((world *)*state, ZE_RESULT_ERROR_UNKNOWN, 1);
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

static void test_device_lost_at_any_step(void **state) {
    world *w = *state;
    life whole = life_in(w);
    whole_life(&whole, "nothing fails", 0);
    assert_true(whole.step > 20);
    for (int i = 1; i <= whole.step; i++) {
        life me = life_in(w);
        me.lose_at = i;
        whole_life(&me, "device lost at step", (uint32_t)i);
        assert_true(me.lost);
    }
}

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
    assert_int_equal(zt_get_cause(profiler, ZT_LOST_DEVICE), 1);
    zt_region region = zt_begin(profiler, w->immediate, "after");
    zt_end(&region);
    assert_counts(profiler, counted(3, 1, 1, 1, 0));
    assert_int_equal(zt_get_cause(profiler, ZT_DROPPED_DEVICE_LOST), 1);
    assert_int_equal(zt_get_availability(profiler), ZT_DEVICE_LOST);
    assert_int_equal(heard(w, "DEVICE_LOST"), 1);
    assert_int_equal(region_info(profiler, "before").count, 1);
    write_all(profiler);
    close_profiler(w, profiler);
    gpu.restore_device();
    ok(zeEventDestroy(gate));
}

/* ==== memory fails ======================================================================================== */

typedef struct scarce {
    int left; /* allocations until one fails */
    int64_t blocks;
} scarce;

static void *allocate(size_t size, void *user) {
    scarce *memory = (scarce *)user;
    if (memory->left-- == 0)
        return NULL;
    memory->blocks++;
    return malloc(size);
}

static void *allocate_until(size_t size, void *user) {
    scarce *memory = (scarce *)user;
    if (memory->left <= 0)
        return NULL;
    return allocate(size, user);
}

static void release(void *block, void *user) {
    scarce *memory = (scarce *)user;
    if (block)
        memory->blocks--;
    free(block);
}

static int live_with(world *w, void *(*function)(size_t, void *), int left) {
    scarce memory = {left, 0};
    life me = life_in(w);
    me.allocator.allocate = function;
    me.allocator.release = release;
    me.allocator.user = &memory;
    whole_life(&me, "allocation", (uint32_t)left);
    assert_int_equal(memory.blocks, 0);
    return left - memory.left; /* that were asked for */
}

static void test_any_allocation_fails(void **state) {
    world *w = *state;
    int all = live_with(w, allocate, 1 << 30);
    assert_true(all > 10);
    for (int n = 0; n < all; n++)
        live_with(w, allocate, n);
}

static void test_memory_ends(void **state) {
    world *w = *state;
    int all = live_with(w, allocate, 1 << 30);
    for (int n = 0; n < all; n++)
        live_with(w, allocate_until, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_any_call_fails),
        TEST(test_any_call_runs_out_of_memory),
        TEST(test_any_call_says_the_device_is_lost),
        TEST(test_calls_fail_for_good),
        TEST(test_device_lost_at_any_step),
        TEST(test_device_loss_is_told),
        TEST(test_any_allocation_fails),
        TEST(test_memory_ends),
        cmocka_unit_test_setup_teardown(test_any_destruction_fails, open_leaky_world, abandon_world),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
