/* Functions of the application run under no lock that another thread, or they themselves, would wait for. */
#define _GNU_SOURCE
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A function that waits until it is let go, on the thread that collects. */
typedef struct gate {
    int entered, open;
} gate;

static void pass(gate *at) {
    __atomic_store_n(&at->entered, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&at->open, __ATOMIC_ACQUIRE))
        nap();
}

static void open_gate(gate *at) {
    __atomic_store_n(&at->open, 1, __ATOMIC_RELEASE);
}

static void wait_at_gate(const zt_sample *sample, void *user) {
    (void)sample;
    pass((gate *)user);
}

typedef struct follow_up {
    world *w;
    zt_profiler *profiler;
    ze_event_handle_t gate;
} follow_up;

/* Submits a region that does not end before its gate is opened, once. */
static void submit_behind_gate(const zt_sample *sample, void *user) {
    follow_up *f = (follow_up *)user;
    (void)sample;
    if (!f->gate) {
        f->gate = append_gate(f->w, f->w->immediate);
        zt_region region = zt_begin(f->profiler, f->w->immediate, "later");
        zt_end(&region);
    }
}

/* What is submitted after the call, as by another thread that goes on, is not waited for. */
static void test_collecting_waits_for_what_was_submitted(void **state) {
    world *w = *state;
    zt_config config = config_of(w);
    follow_up f = {w, NULL, NULL};
    config.groups = "";
    config.sample = submit_behind_gate;
    config.sample_user = &f;
    f.profiler = open_profiler(w, &config);
    run(w, f.profiler, "first");
    ok(zt_collect(f.profiler, A_WHILE));
    assert_counts(f.profiler, counted(2, 1, 0, 0, 1));
    assert_result(zt_collect(f.profiler, 1000000), ZE_RESULT_NOT_READY);
    ok(zeEventHostSignal(f.gate));
    finish_immediate(w, w->immediate);
    ok(zt_collect(f.profiler, A_WHILE));
    assert_counts(f.profiler, counted(2, 2, 0, 0, 0));
    ok(zeEventDestroy(f.gate));
    close_profiler(w, f.profiler);
}

static void *collect_at_once(void *profiler) {
    zt_collect((zt_profiler *)profiler, 0);
    return NULL;
}

typedef struct user {
    world *w;
    zt_profiler *profiler;
    ze_command_list_handle_t list, recorded;
    ze_kernel_handle_t kernel;
    gate *at;
    uint64_t regions, dropped;
    int begins; /* set as the thread goes into zt_begin */
    ze_result_t result;
    zt_region region;
} user;

static void create_user(user *me, world *w, zt_profiler *profiler) {
    me->w = w;
    me->profiler = profiler;
    create_immediate(w, &me->list);
    create_list(w, &me->recorded);
    create_kernel(w, &me->kernel);
}

static void destroy_user(user *me) {
    finish_immediate(me->w, me->list);
    close_profiler(me->w, me->profiler);
    ok(zeCommandListDestroy(me->list));
    ok(zeCommandListDestroy(me->recorded));
    ok(zeKernelDestroy(me->kernel));
}

/* All that never waits for the thread that collects. */
static void *use_everything_that_does_not_wait(void *argument) {
    user *me = (user *)argument;
    zt_region_info info;
    append_kernel(me->profiler, me->list, me->kernel, "meanwhile");
    finish_immediate(me->w, me->list);
    append_kernel(me->profiler, me->recorded, me->kernel, "taken back");
    me->result = zt_collect(me->profiler, 0);
    zt_release(me->profiler, me->recorded);
    zt_release(me->profiler, me->list);
    zt_get_info(me->profiler);
    zt_get_region(me->profiler, 0, &info);
    (void)zt_last_error(NULL);
    return NULL;
}

/* A slow function of the application holds up nobody but the thread that it is called on. */
static void collect_slowly(world *w, int with_thread) {
    enum { FIRST = 60 }; /* fewer than make zt_end collect */
    gate at = {0, 0};
    pthread_t collector, other;
    struct timespec end;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.thread = with_thread;
    config.sample = wait_at_gate;
    config.sample_user = &at;
    user me = {.at = &at};
    create_user(&me, w, open_profiler(w, &config));
    for (int i = 0; i < FIRST; i++)
        append(w, me.profiler, w->immediate, "slow");
    finish_immediate(w, w->immediate);
    assert_int_equal(pthread_create(&collector, NULL, collect_at_once, me.profiler), 0);
    await(&at.entered);
    for (int i = 0; i < FIRST; i++)
        append(w, me.profiler, w->immediate, "slow");
    finish_immediate(w, w->immediate);
    assert_int_equal(pthread_create(&other, NULL, use_everything_that_does_not_wait, &me), 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    int hung = pthread_timedjoin_np(other, NULL, &end);
    open_gate(&at);
    join_in_time(w, collector);
    if (hung)
        join_in_time(w, other);
    assert_int_equal(hung, 0);
    assert_result(me.result, ZE_RESULT_SUCCESS);
    collect_all(me.profiler);
    assert_counts(me.profiler, counted(2 * FIRST + 1, 2 * FIRST + 1, 0, 0, 0));
    destroy_user(&me);
}

static void test_a_slow_sample_function(void **state) {
    collect_slowly(*state, 0);
}

static void test_a_slow_sample_function_on_the_thread(void **state) {
    collect_slowly(*state, 1);
}

/* ---- a sample function that begins a region, while another thread looks for a probe ----------------------- */

static void begin_in_sample(const zt_sample *sample, void *argument) {
    user *me = (user *)argument;
    (void)sample;
    if (__atomic_exchange_n(&me->at->entered, 1, __ATOMIC_ACQ_REL))
        return;
    await(&me->begins);
    for (int i = 0; i < 20; i++)
        nap(); /* the other thread is in zt_begin by now, or soon */
    zt_region region = zt_begin(me->profiler, me->list, "inside");
    zt_end(&region);
}

static void *begin_without_probes(void *argument) {
    user *me = (user *)argument;
    await(&me->at->entered);
    __atomic_store_n(&me->begins, 1, __ATOMIC_RELEASE);
    append_kernel(me->profiler, me->w->immediate, me->w->kernel, "other");
    return NULL;
}

static void begin_on_two_threads(world *w, uint32_t probes, uint32_t most, int with_thread) {
    gate at = {0, 0};
    pthread_t collector, other;
    user me = {.at = &at};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = probes;
    config.max_probes = most;
    config.thread = with_thread;
    config.sample = begin_in_sample;
    config.sample_user = &me;
    create_user(&me, w, open_profiler(w, &config));
    for (uint32_t i = 0; i < probes / 2; i++)
        append(w, me.profiler, w->immediate, "first");
    finish_immediate(w, w->immediate);
    assert_int_equal(pthread_create(&collector, NULL, collect_at_once, me.profiler), 0);
    await(&at.entered);
    for (uint32_t i = 0; i < probes / 2; i++)
        append(w, me.profiler, w->immediate, "first");
    finish_immediate(w, w->immediate);
    gpu.set_call_cost("zetMetricQueryPoolCreate", 40000000); /* making room takes its time */
    assert_int_equal(pthread_create(&other, NULL, begin_without_probes, &me), 0);
    join_in_time(w, collector);
    join_in_time(w, other);
    gpu.set_call_cost("zetMetricQueryPoolCreate", 0);
    w->launches += probes + 1;
    finish_immediate(w, w->immediate);
    finish_immediate(w, me.list);
    ok(zt_collect(me.profiler,
                  A_WHILE)); /* for the sample function, which submits, and then for what that is */
    collect_all(me.profiler);
    assert_int_equal(region_info(me.profiler, "first").count, probes);
    zt_counts counts = zt_get_info(me.profiler).counts;
    assert_int_equal(counts.begun, probes + 2);
    assert_int_equal(counts.collected + counts.dropped, probes + 2);
    assert_int_equal(zt_get_info(me.profiler).causes[ZT_DROPPED_NO_PROBE].count, counts.dropped);
    assert_int_equal(region_info(me.profiler, "other").count, 1);
    destroy_user(&me);
    check_work(w);
}

static void test_regions_in_a_sample_function_without_probes(void **state) {
    begin_on_two_threads(*state, 8, 8, 0);
    begin_on_two_threads(*state, 8, 16, 0);
    begin_on_two_threads(*state, 120, 120, 0);
}

static void test_regions_in_a_sample_function_on_the_thread(void **state) {
    begin_on_two_threads(*state, 120, 120, 1);
}

/* ---- a log function that asks, wherever a message comes from --------------------------------------------- */

static void ask(int result, const char *text, void *argument) {
    user *me = (user *)argument;
    zt_region_info info;
    (void)result, (void)text;
    if (!me->profiler)
        return;
    zt_get_info(me->profiler);
    zt_get_region(me->profiler, 0, &info);
    me->regions++;
}

enum { MUCH = 600, BATCHES = 150 };

/* What is ready at once are more than two batches, of which the first calculation fails. */
static void *submit_much(void *argument) {
    user *me = (user *)argument;
    for (int i = 0; i < BATCHES; i++)
        append_kernel(me->profiler, me->recorded, me->kernel, "recorded");
    zeCommandListClose(me->recorded);
    for (int i = 0; i < 3; i++) {
        zt_execute(me->profiler, me->w->queue, 1, &me->recorded, NULL);
        zeCommandQueueSynchronize(me->w->queue, A_WHILE);
        inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
        if (i > 0)
            zt_collect(me->profiler, 0);
    }
    for (int i = 0; i < MUCH; i++) {
        if (i % 128 == 0)
            inject("zetMetricGroupCalculateMetricValues", 1, ZE_RESULT_ERROR_UNKNOWN);
        append_kernel(me->profiler, me->list, me->kernel, "much");
        if (i % 128 == 127)
            finish_immediate(me->w, me->list);
    }
    finish_immediate(me->w, me->list);
    zt_collect(me->profiler, A_WHILE);
    return NULL;
}

static void test_a_log_function_that_asks(void **state) {
    world *w = *state;
    for (int with_thread = 0; with_thread < 2; with_thread++) {
        user me = {0};
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.thread = with_thread;
        config.log = ask;
        config.log_user = &me;
        zt_profiler *profiler = open_profiler(w, &config);
        create_user(&me, w, profiler);
        gpu.behave(SOFTGPU_REPORT_LOST, 50); /* which makes a message, too */
        run_in_time(w, submit_much, &me);
        gpu.behave(SOFTGPU_REPORT_LOST, 0);
        inject("zetMetricGroupCalculateMetricValues", 0, ZE_RESULT_SUCCESS);
        zt_counts counts = zt_get_info(profiler).counts;
        assert_int_equal(counts.begun, MUCH + 3 * BATCHES);
        assert_int_equal(counts.in_flight, 0);
        assert_true(me.regions > 0);
        check_identity(profiler);
        destroy_user(&me);
    }
}

/* ---- a log function that gives up the list ---------------------------------------------------------------- */

static void release_the_list(int result, const char *text, void *argument) {
    user *me = (user *)argument;
    (void)result, (void)text;
    zt_release(me->profiler, me->list);
    me->regions++;
}

/* The driver refuses the command of a begin or an end: the region is dropped by it or by zt_release, once. */
static void test_a_log_function_that_releases(void **state) {
    static const char *const commands[] = {"zetCommandListAppendMetricQueryBegin",
                                           "zeCommandListAppendWriteGlobalTimestamp",
                                           "zetCommandListAppendMetricQueryEnd"};
    world *w = *state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        user me = {.w = w};
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.timeline = 16; /* for time stamps beside the metrics */
        config.log = release_the_list;
        config.log_user = &me;
        me.profiler = open_profiler(w, &config);
        create_list(w, &me.list);
        zt_region outer = zt_begin(me.profiler, me.list, "outer");
        inject(commands[i], 1, ZE_RESULT_ERROR_UNKNOWN);
        zt_region inner = zt_begin(me.profiler, me.list, "inner");
        zt_end(&inner);
        zt_end(&outer);
        assert_true(me.regions > 0);
        ok(zeCommandListDestroy(me.list));
        run(w, me.profiler, "later");
        collect_all(me.profiler);
        assert_counts(me.profiler, counted(3, 1, 0, 2, 0));
        close_profiler(w, me.profiler);
    }
    check_work(w);
}

/* ---- a log function that begins a region in the place of the one that was refused ------------------------- */

static void begin_anew(int result, const char *text, void *argument) {
    user *me = (user *)argument;
    (void)result, (void)text;
    if (me->regions++ > 0)
        return;
    zt_release(me->profiler, me->list);
    reset_list(me->list);
    me->region = zt_begin(me->profiler, me->list, "anew");
}

/* There is one probe, so both regions use it. What ends the first does not end the other. */
static void test_a_log_function_that_begins_anew(void **state) {
    static const char *const commands[] = {"zetCommandListAppendMetricQueryBegin",
                                           "zetCommandListAppendMetricQueryEnd"};
    world *w = *state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        user me = {.w = w};
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.probes_per_step = config.max_probes = 1;
        config.log = begin_anew;
        config.log_user = &me;
        me.profiler = open_profiler(w, &config);
        create_list(w, &me.list);
        inject(commands[i], 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
        zt_region refused = zt_begin(me.profiler, me.list, "refused");
        zt_end(&refused);
        assert_true(me.regions > 0);
        launch(w, me.list);
        zt_end(&me.region);
        ok(zeCommandListClose(me.list));
        execute(w, me.profiler, me.list);
        collect_all(me.profiler);
        assert_counts(me.profiler, counted(2, 1, 0, 1, 0));
        assert_int_equal(region_info(me.profiler, "anew").count, 1);
        zt_release(me.profiler, me.list);
        close_profiler(w, me.profiler);
        ok(zeCommandListDestroy(me.list));
    }
    check_work(w);
}

/* ---- a log function that closes --------------------------------------------------------------------------- */

typedef struct closer {
    zt_profiler *profiler;
    zt_stream *stream;
    int refusals;
    ze_result_t result;
} closer;

static void close_what_reports(int result, const char *text, void *argument) {
    closer *me = (closer *)argument;
    if (strncmp(text, "[INSIDE_", 8) == 0) {
        me->refusals++;
        me->result = (ze_result_t)result;
    }
    zt_close(me->profiler);
    if (me->stream)
        zt_stream_close(me->stream, NULL, NULL, NULL);
}

/* What reports goes on to use the profiler: closing it is refused. */
static void test_a_log_function_that_closes(void **state) {
    static const char *const commands[] = {"zetCommandListAppendMetricQueryBegin",
                                           "zetCommandListAppendMetricQueryEnd", "zetMetricQueryReset"};
    world *w = *state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        closer me = {0};
        zt_config config = config_of(w);
        config.groups = "ComputeBasic";
        config.log = close_what_reports;
        config.log_user = &me;
        me.profiler = open_profiler(w, &config);
        inject(commands[i], 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        run(w, me.profiler, "some");
        zt_collect(me.profiler, A_WHILE);
        assert_int_equal(me.refusals, 1);
        assert_int_equal(me.result, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        run(w, me.profiler, "later");
        collect_all(me.profiler);
        assert_int_equal(region_info(me.profiler, "later").count, 1);
        close_profiler(w, me.profiler);
    }
    check_work(w);
}

typedef struct nested {
    zt_profiler *first, *second;
    int firsts, seconds;
} nested;

static void fail_the_second(int result, const char *text, void *argument) {
    nested *me = (nested *)argument;
    zt_stats stats;
    (void)result, (void)text;
    if (me->firsts++ == 0)
        zt_get_stats(me->second, 7, 0, &stats);
}

static void close_the_first(int result, const char *text, void *argument) {
    nested *me = (nested *)argument;
    (void)result, (void)text;
    me->seconds++;
    zt_close(me->first);
}

/* Not a profiler that is in use by this thread, whosever log function is the innermost. */
static void test_a_log_function_inside_of_another_that_closes(void **state) {
    world *w = *state;
    nested me = {NULL, NULL, 0, 0};
    zt_stats stats;
    zt_config config = config_of(w);
    config.log = fail_the_second;
    config.log_user = &me;
    me.first = open_profiler(w, &config);
    config.log = close_the_first;
    me.second = open_profiler(w, &config);
    assert_result(zt_get_stats(me.first, 7, 0, &stats), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(me.seconds, 1);
    assert_int_equal(me.firsts, 2); /* the second message is that it cannot be closed */
    assert_contains(zt_get_info(me.first).error, "[INSIDE_LOG] zt_close");
    run(w, me.first, "measured");
    collect_all(me.first);
    assert_counts(me.first, counted(1, 1, 0, 0, 0));
    check_work(w);
}

static void test_a_log_function_that_closes_its_stream(void **state) {
    world *w = *state;
    closer me = {0};
    zt_stream_config config = {0};
    config.log = close_what_reports;
    config.log_user = &me;
    ok(zt_stream_open(w->context, w->device, &config, &me.stream));
    inject("zetCommandListAppendMetricStreamerMarker", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(zt_stream_mark(me.stream, w->immediate, "some"), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(me.refusals, 1);
    zt_stream *stream = me.stream;
    me.stream = NULL;
    zt_stream_close(stream, NULL, NULL, NULL);
}

/* ---- an allocator that asks ------------------------------------------------------------------------------- */

static void *allocate_and_ask(size_t size, void *argument) {
    user *me = (user *)argument;
    if (me->profiler) {
        zt_get_info(me->profiler);
        __atomic_add_fetch(&me->regions, 1, __ATOMIC_RELAXED);
    }
    return malloc(size);
}

static void release_and_ask(void *memory, void *argument) {
    user *me = (user *)argument;
    if (me->profiler && !me->result)
        zt_get_info(me->profiler);
    free(memory);
}

static int count_bytes(const void *bytes, size_t size, void *written) {
    (void)bytes;
    *(size_t *)written += size;
    return 0;
}

static void *allocate_much(void *argument) {
    user *me = (user *)argument;
    char name[400];
    size_t size = 0;
    for (int i = 0; i < 400; i++) { /* names, lists and probes, more and more of them */
        memset(name, 'a' + i % 26, sizeof name);
        snprintf(name, sizeof name, "region %d", i);
        append_kernel(me->profiler, i % 2 ? me->list : me->recorded, me->kernel, name);
    }
    finish_immediate(me->w, me->list);
    zt_collect(me->profiler, 0);
    for (int format = ZT_FORMAT_TABLE; format <= ZT_FORMAT_FOLDED; format++) {
        size_t written = 0;
        zt_write(me->profiler, (zt_format)format, count_bytes, &written);
    }
    zt_pack(me->profiler, NULL, &size);
    zt_release(me->profiler, me->recorded);
    zt_collect(me->profiler, A_WHILE);
    return NULL;
}

static void test_an_allocator_that_asks(void **state) {
    world *w = *state;
    user me = {0};
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.probes_per_step = 16;
    config.samples = 16;
    config.allocator.allocate = allocate_and_ask;
    config.allocator.release = release_and_ask;
    config.allocator.user = &me;
    zt_profiler *profiler = open_profiler(w, &config);
    create_user(&me, w, profiler);
    run_in_time(w, allocate_much, &me);
    assert_true(me.regions > 0);
    assert_counts(profiler, counted(200, 200, 0, 0, 0));
    me.result = ZE_RESULT_NOT_READY; /* there is nothing to ask while it closes */
    destroy_user(&me);
}

/* ---- an allocator that takes long ------------------------------------------------------------------------- */

typedef struct slow_allocator {
    gate at;
    int is_slow;
} slow_allocator;

static void *allocate_at_gate(size_t size, void *allocator) {
    slow_allocator *slow = (slow_allocator *)allocator;
    if (__atomic_exchange_n(&slow->is_slow, 0, __ATOMIC_ACQ_REL))
        pass(&slow->at);
    return malloc(size);
}

static void release_it(void *memory, void *allocator) {
    (void)allocator;
    free(memory);
}

/* It runs while a recording is read. Longer than a second, nobody waits for that: a region of its list is dropped. */
static void test_an_allocator_that_takes_long(void **state) {
    world *w = *state;
    slow_allocator slow = {{0, 0}, 0};
    pthread_t thread;
    zt_region region;
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.allocator.allocate = allocate_at_gate;
    config.allocator.release = release_it;
    config.allocator.user = &slow;
    zt_profiler *profiler = open_profiler(w, &config);
    append(w, profiler, w->list, "first");
    ok(zeCommandListClose(w->list));
    execute(w, profiler, w->list);
    reset_list(w->list); /* which nobody tells */
    slow.is_slow = 1;
    assert_int_equal(pthread_create(&thread, NULL, collect_at_once, profiler), 0);
    await(&slow.at.entered);
    region = zt_begin(profiler, w->list, "second");
    assert_null(region.probe);
    zt_end(&region);
    open_gate(&slow.at);
    pthread_join(thread, NULL);
    collect_all(profiler);
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    close_profiler(w, profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_collecting_waits_for_what_was_submitted),
        TEST(test_a_slow_sample_function),
        TEST(test_a_slow_sample_function_on_the_thread),
        TEST(test_regions_in_a_sample_function_without_probes),
        TEST(test_regions_in_a_sample_function_on_the_thread),
        TEST(test_a_log_function_that_asks),
        TEST(test_a_log_function_that_releases),
        TEST(test_a_log_function_that_begins_anew),
        TEST(test_a_log_function_that_closes),
        TEST(test_a_log_function_inside_of_another_that_closes),
        TEST(test_a_log_function_that_closes_its_stream),
        TEST(test_an_allocator_that_asks),
        TEST(test_an_allocator_that_takes_long),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
