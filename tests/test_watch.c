/* zt_watch: regions that hang are found, once, with what else was submitted. */
#define _GNU_SOURCE
#include "endless.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

/* ==== calls that do not return yet ==================================================================== */

/* A call that does not return until it is let go, if it is not made by the thread of the tests. */
static struct {
    const char *name;
    int is_inside, may_return;
} held_call;
static pthread_t thread_of_tests;

static void hold_call(const char *name) {
    held_call.is_inside = held_call.may_return = 0;
    __atomic_store_n(&held_call.name, name, __ATOMIC_SEQ_CST);
}

static void await_held_call(void) {
    await(&held_call.is_inside);
}

static void let_call_return(void) {
    __atomic_store_n(&held_call.name, NULL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&held_call.may_return, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&held_call.is_inside, __ATOMIC_SEQ_CST))
        nap();
}

/* Returns whether it was held. */
static int stay_in_held_call(const char *name) {
    const char *held = __atomic_load_n(&held_call.name, __ATOMIC_SEQ_CST);
    if (!held || strcmp(held, name) != 0 || pthread_equal(pthread_self(), thread_of_tests))
        return 0;
    __atomic_store_n(&held_call.is_inside, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&held_call.may_return, __ATOMIC_SEQ_CST))
        nap();
    __atomic_store_n(&held_call.is_inside, 0, __ATOMIC_SEQ_CST);
    return 1;
}

ze_result_t ZE_APICALL zeEventQueryKernelTimestamp(ze_event_handle_t event,
                                                   ze_kernel_timestamp_result_t *stamps) {
    stay_in_held_call("zeEventQueryKernelTimestamp");
    return REAL(zeEventQueryKernelTimestamp)(event, stamps);
}

static int ends_while_queried; /* the work, during a held query, which tells so */

ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t event) {
    ze_result_t result = REAL(zeEventQueryStatus)(event);
    int was_held = stay_in_held_call("zeEventQueryStatus");
    return was_held && __atomic_load_n(&ends_while_queried, __ATOMIC_SEQ_CST) ? ZE_RESULT_SUCCESS : result;
}

/* ==== kernels that hang =================================================================================== */

/* Of what was loaded last: a failing test lets its kernel end. */
static uint32_t *last_words;

/* A kernel of `endless`, and a recorded list for it: older loaders cannot tell which lists are immediate. */
static work load_recorded(world *w, const char *name) {
    ze_command_list_handle_t list;
    create_list(w, &list);
    work of = load_work_on(w, w->device, name, list);
    last_words = of.words;
    return of;
}

/* Meanwhile no time passes for the watch: a busy machine may let a kernel wait for longer than hang_ns. */
static void begin_submitting(void) {
    hold_time(1);
}

static void await_kernel(const work *of) {
    await((const int *)&of->words[COUNT]);
    hold_time(0);
}

/* In a region; waits until it runs. */
static work begin_hang(world *w, zt_profiler *profiler, const char *region) {
    work of = load_recorded(w, "count");
    append_kernel(profiler, of.list, of.kernel, region);
    ok(zeCommandListClose(of.list));
    begin_submitting();
    ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
    await_kernel(&of);
    return of;
}

static void let_go(const work *of) {
    __atomic_store_n(&of->words[STOP], 1, __ATOMIC_RELAXED);
}

static void unload_hang(world *w, zt_profiler *profiler, work *of) {
    ok(zt_release(profiler, of->list));
    last_words = NULL;
    unload_work(w, of);
}

static void finish_hang(world *w, zt_profiler *profiler, work *of) {
    let_go(of);
    finish_queue(w);
    unload_hang(w, profiler, of);
}

static int close_hanging_world(void **state) {
    if (last_words)
        __atomic_store_n(&last_words[STOP], 1, __ATOMIC_RELAXED);
    last_words = NULL;
    return close_world(state);
}

#define HANG_TEST(function) cmocka_unit_test_setup_teardown(function, open_world, close_hanging_world)

/* ==== what a watch reports ================================================================================ */

/* The last report, and how many there were. */
static struct {
    pthread_mutex_t mutex;
    int count;
    zt_hang hang;
    char region[64], text[1 << 15];
} heard_hang = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void hear(const zt_hang *hang, void *user) {
    assert_ptr_equal(user, &heard_hang);
    pthread_mutex_lock(&heard_hang.mutex);
    heard_hang.hang = *hang;
    snprintf(heard_hang.region, sizeof heard_hang.region, "%s", hang->region);
    snprintf(heard_hang.text, sizeof heard_hang.text, "%s", hang->text);
    heard_hang.count++;
    pthread_mutex_unlock(&heard_hang.mutex);
}

static int hangs_heard(void) {
    pthread_mutex_lock(&heard_hang.mutex);
    int count = heard_hang.count;
    pthread_mutex_unlock(&heard_hang.mutex);
    return count;
}

static void await_hang(int count) {
    uint64_t end = now_ns() + A_WHILE;
    while (hangs_heard() < count) {
        assert_true(now_ns() < end);
        nap();
    }
    assert_int_equal(hangs_heard(), count);
}

/* The driver was called so many times since. */
static void await_calls(const char *function, uint64_t times) {
    uint64_t before = calls(function), end = now_ns() + A_WHILE;
    while (calls(function) < before + times) {
        assert_true(now_ns() < end);
        nap();
    }
}

/* The watch has looked at the regions so many times since. */
static void let_it_look(uint64_t times) {
    await_calls("zeEventQueryStatus", times);
}

static zt_watch_config config_of_watch(void) {
    zt_watch_config config = {0};
    heard_hang.count = 0;
    config.hang_ns = 20 * MS;
    config.path = "";
    config.function = hear;
    config.user = &heard_hang;
    return config;
}

/* Of times alone: queries take calls to the driver that do not matter here. */
static zt_profiler *open_watched(world *w, const zt_watch_config *watch) {
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_watch(profiler, watch));
    assert_true(zt_get_info(profiler).watch.is_watching);
    return profiler;
}

/* ==== hangs =============================================================================================== */

static void a_hang_is_found_once(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    work of = load_recorded(w, "count");
    append_kernel(profiler, of.list, of.kernel, "stuck");
    for (int i = 0; i < 30; i++) {
        append(w, profiler, of.list, "behind");
        append(w, profiler, w->list, "_Z6besidev");
    }
    ok(zeCommandListClose(of.list));
    ok(zeCommandListClose(w->list));
    begin_submitting();
    ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
    pass_time(1);
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    await_kernel(&of);
    await_hang(1);
    assert_string_equal(heard_hang.region, "stuck");
    assert_in_range(heard_hang.hang.running_ns, 20 * MS, A_WHILE);
    assert_int_equal(heard_hang.hang.others, 1);
    assert_contains(heard_hang.text, "'stuck' has run for");
    assert_contains(heard_hang.text, "and has not ended");
    assert_contains(heard_hang.text, "Regions run on 1 other list, or wait to run there.");
    assert_contains(heard_hang.text, "  stuck\n"); /* the first of each list */
    assert_contains(heard_hang.text,
                    dlsym(RTLD_DEFAULT, "__cxa_demangle") ? "  beside()\n" : "  _Z6besidev\n");
    assert_null(strstr(heard_hang.text, "behind"));
    assert_contains(heard_hang.text, "zt_debug_open");
    let_it_look(30);
    assert_int_equal(hangs_heard(), 1);
    assert_int_equal(heard(w, "[HANG] zt_watch: 'stuck' has run for"), 1);
    zt_watch_info info = zt_get_info(profiler).watch;
    assert_int_equal(info.hangs, 1);
    assert_counts_on(&of);
    ok(zt_watch_stop(profiler)); /* what is behind may be slow on a busy machine */
    let_go(&of);
    finish_queue(w);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "behind").count, 30);
    assert_int_equal(region_info(profiler, "_Z6besidev").count, 30);
    w->launches += 60;
    unload_hang(w, profiler, &of);
    ok(zt_release(profiler, w->list));
    close_profiler(w, profiler);
    check_work(w);
}

/* When the first has ended. */
static void the_next_hang_is_another(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    for (int i = 1; i <= 3; i++) {
        work of = begin_hang(w, profiler, "stuck");
        await_hang(i);
        finish_hang(w, profiler, &of);
    }
    assert_int_equal(zt_get_info(profiler).watch.hangs, 3);
    assert_int_equal(heard(w, "[HANG]"), 3);
    close_profiler(w, profiler);
}

/* One after the other, for longer than hang_ns: each alone is short. */
static void work_that_goes_on_does_not_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 10000 * MS;
    zt_profiler *profiler = open_watched(w, &config);
    for (int i = 0; i < 300; i++)
        run(w, profiler, "short");
    finish_immediate(w, w->immediate);
    run_at_least(w, profiler, "longer", 10e6);
    assert_int_equal(hangs_heard(), 0);
    close_profiler(w, profiler);
    check_work(w);
}

/* Records regions whose kernel waits for a gate of its own. After each, the device signals `ended`, if there is one. */
static void append_gated(world *w, zt_profiler *profiler, ze_command_list_handle_t list, const char *name,
                         ze_event_handle_t gate, ze_event_handle_t ended) {
    zt_region region = zt_begin(profiler, list, name);
    ok(zeCommandListAppendWaitOnEvents(list, 1, &gate));
    ok(zeCommandListAppendEventReset(list, gate));
    launch_kernel(list, w->kernel);
    zt_end(&region);
    if (ended)
        ok(zeCommandListAppendSignalEvent(list, ended));
}

static void await_event(ze_event_handle_t event) {
    ok(zeEventHostSynchronize(event, A_WHILE));
    ok(zeEventHostReset(event));
}

/* One after the other, for longer than hang_ns, in one list: they are submitted together, and each alone is short. */
static void recorded_work_that_goes_on_does_not_hang(void **state) {
    enum { REGIONS = 3 };
    static const char *const names[REGIONS] = {"first", "second", "third"};
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    ze_event_handle_t gates[REGIONS], ended;
    config.hang_ns = 80 * HOUR; /* what passes by itself does not matter */
    zt_profiler *profiler = open_watched(w, &config);
    create_event(w, REGIONS + 1, &ended);
    for (uint32_t i = 0; i < REGIONS; i++) {
        create_event(w, i + 1, &gates[i]);
        append_gated(w, profiler, w->list, names[i], gates[i], ended);
    }
    ok(zeCommandListClose(w->list));
    for (int round = 1; round <= 2; round++) {
        ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
        for (int i = 0; i < REGIONS; i++) {
            let_it_look(2);
            pass_time(60 * HOUR);
            let_it_look(2);
            assert_int_equal(hangs_heard(), round - 1);
            if (i < REGIONS - 1) {
                ok(zeEventHostSignal(gates[i]));
                await_event(ended);
            }
        }
        pass_time(60 * HOUR);
        await_hang(round);
        assert_string_equal(heard_hang.region, "third");
        assert_in_range(heard_hang.hang.running_ns, 120 * HOUR, 180 * HOUR - 1);
        ok(zeEventHostSignal(gates[REGIONS - 1]));
        await_event(ended);
        finish_queue(w);
        w->launches += REGIONS;
        collect_all(profiler);
    }
    ok(zt_release(profiler, w->list));
    for (int i = 0; i < REGIONS; i++)
        ok(zeEventDestroy(gates[i]));
    ok(zeEventDestroy(ended));
    close_profiler(w, profiler);
    check_work(w);
}

/* Of a list that is executed; one that is only recorded does not run. */
static void recorded_regions_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    work of = load_recorded(w, "count");
    append_kernel(profiler, of.list, of.kernel, "recorded");
    ok(zeCommandListClose(of.list));
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "other");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    await_hang(1);
    assert_string_equal(heard_hang.region, "other");
    assert_int_equal(heard_hang.hang.others, 0);
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    for (int i = 2; i <= 3; i++) {
        of.words[STOP] = of.words[COUNT] = 0;
        begin_submitting();
        ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
        await_kernel(&of);
        await_hang(i);
        assert_string_equal(heard_hang.region, "recorded");
        let_go(&of);
        finish_queue(w);
    }
    unload_hang(w, profiler, &of);
    ok(zt_release(profiler, w->list));
    ok(zeEventDestroy(gate));
    close_profiler(w, profiler);
}

static void regions_of_immediate_lists_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    if (!can_tell_immediate())
        skip();
    zt_profiler *profiler = open_watched(w, &config);
    for (int i = 1; i <= 2; i++) {
        work of = load_recorded(w, "count");
        begin_submitting();
        append_kernel(profiler, w->immediate, of.kernel, "immediate");
        for (int j = 0; j < 100; j++)
            append(w, profiler, w->immediate, "behind");
        w->launches += 100;
        await_kernel(&of);
        await_hang(i);
        assert_string_equal(heard_hang.region, "immediate");
        hold_time(1); /* what is behind may be slow, too */
        let_go(&of);
        finish_immediate(w, w->immediate);
        hold_time(0);
        unload_hang(w, profiler, &of);
    }
    close_profiler(w, profiler);
    check_work(w);
}

static void traced_launches_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    ok(zt_trace_start(profiler, NULL));
    work of = load_recorded(w, "count");
    ze_command_list_handle_t list;
    create_immediate(w, &list);
    begin_submitting();
    launch_kernel(list, of.kernel);
    await_kernel(&of);
    await_hang(1);
    assert_string_equal(heard_hang.region, "count");
    let_go(&of);
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    unload_hang(w, profiler, &of);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
}

/* A list, and events that a tracer lets probes keep: their pool was created while it traces. */
typedef struct list_with_events {
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[2];
    int is_recorded;
} list_with_events;

static list_with_events create_list_with_events(world *w, int is_recorded) {
    list_with_events made = {.is_recorded = is_recorded};
    ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
    if (is_recorded)
        create_list(w, &made.list);
    else
        create_immediate(w, &made.list);
    ok(zeEventPoolCreate(w->context, &pool, 1, &w->device, &made.pool));
    for (uint32_t i = 0; i < 2; i++) {
        ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, i, ZE_EVENT_SCOPE_FLAG_HOST, 0};
        ok(zeEventCreate(made.pool, &event, &made.events[i]));
    }
    return made;
}

static void launch_with_event(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                              ze_event_handle_t event) {
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ok(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
}

static void submit(world *w, const list_with_events *of) {
    ze_command_list_handle_t list = of->list;
    if (of->is_recorded) {
        ok(zeCommandListClose(list));
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
    }
}

static void finish(world *w, const list_with_events *of) {
    if (of->is_recorded)
        finish_queue(w);
    else
        finish_immediate(w, of->list);
}

static void destroy_list_with_events(const list_with_events *of) {
    ok(zeCommandListDestroy(of->list));
    for (int i = 0; i < 2; i++)
        if (of->events[i])
            ok(zeEventDestroy(of->events[i]));
    ok(zeEventPoolDestroy(of->pool));
}

/* Another list waits for the event that is returned, and the watch looks at everything meanwhile. */
static ze_event_handle_t begin_waiting(world *w, zt_profiler *profiler) {
    ze_event_handle_t gate = append_gate(w, w->list);
    append(w, profiler, w->list, "waits");
    ok(zeCommandListClose(w->list));
    ok(zt_execute(profiler, w->queue, 1, &w->list, NULL));
    let_it_look(3);
    return gate;
}

static void finish_waiting(world *w, zt_profiler *profiler, ze_event_handle_t gate) {
    ok(zeEventHostSignal(gate));
    finish_queue(w);
    w->launches++;
    ok(zt_reset(profiler, w->list));
    ok(zeEventDestroy(gate));
}

/* Launches, each of which signals an event of the application, and is measured by it. The list may reset the event
   of the first, after a copy of its time stamps. */
static list_with_events launch_with_events(world *w, int kind, ze_kernel_handle_t first) {
    list_with_events with = create_list_with_events(w, kind % 2);
    launch_with_event(with.list, first, with.events[0]);
    if (kind / 2)
        ok(zeCommandListAppendEventReset(with.list, with.events[0]));
    launch_with_event(with.list, w->kernel, with.events[1]);
    submit(w, &with);
    w->launches++;
    return with;
}

/* Launches whose event their list resets may be lost: of a recorded list always. In the time that has passed, a clock
   of the device may have turned. */
static void expect_losses_of_events(const zt_profiler *profiler) {
    zt_info info = zt_get_info(profiler);
    assert_in_range(info.causes[ZT_LOST_EVENT].count, 1, 2);
    assert_int_equal(info.counts.lost,
                     info.causes[ZT_LOST_EVENT].count + info.causes[ZT_LOST_IMPLAUSIBLE].count);
}

/* They end when the device has signalled the event, and not when they are collected. */
static void launches_with_events_end(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 80 * SECOND; /* what passes by itself does not matter */
    zt_profiler *profiler = open_watched(w, &config);
    ok(zt_trace_start(profiler, NULL));
    for (int kind = 0; kind < 6; kind++) {
        list_with_events with = launch_with_events(w, kind % 4, w->kernel);
        w->launches++;
        finish(w, &with);
        if (kind >= 4) /* their time stamps are saved */
            for (int i = 0; i < 2; i++)
                ok(zeEventHostReset(with.events[i]));
        for (int i = 0; i < 2; i++) {
            finish_waiting(w, profiler, begin_waiting(w, profiler));
            assert_int_equal(hangs_heard(), 0);
            pass_time(2 * config.hang_ns);
        }
        collect_all(profiler);
        destroy_list_with_events(&with);
    }
    expect_losses_of_events(profiler);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
    check_work(w);
}

static void launches_with_events_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 80 * SECOND;
    zt_profiler *profiler = open_watched(w, &config);
    ok(zt_trace_start(profiler, NULL));
    for (int kind = 0; kind < 4; kind++) {
        work of = load_recorded(w, "count");
        list_with_events with = launch_with_events(w, kind, of.kernel);
        await_kernel(&of);
        ze_event_handle_t gate = begin_waiting(w, profiler);
        assert_int_equal(hangs_heard(), kind);
        pass_time(2 * config.hang_ns);
        await_hang(kind + 1);
        /* of an event that its list resets, nothing shows that the launch has not ended: the next one has not */
        assert_string_equal(heard_hang.region, kind / 2 ? "saxpy" : "count");
        assert_int_equal(heard_hang.hang.others, 1);
        let_go(&of);
        finish_waiting(w, profiler, gate);
        finish(w, &with);
        collect_all(profiler);
        destroy_list_with_events(&with);
        unload_hang(w, NULL, &of);
    }
    expect_losses_of_events(profiler);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
    check_work(w);
}

/* The event is destroyed while the watch asks for its state: not before the driver has answered. */
static int was_destroyed;

static void *let_call_return_late(void *destroyed_early) {
    for (int i = 0; i < 50; i++)
        nap();
    *(int *)destroyed_early = __atomic_load_n(&was_destroyed, __ATOMIC_SEQ_CST);
    let_call_return();
    return NULL;
}

static void an_event_is_destroyed_meanwhile(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    pthread_t later;
    int destroyed_early;
    config.hang_ns = 1000 * SECOND;
    zt_profiler *profiler = open_watched(w, &config);
    ok(zt_trace_start(profiler, NULL));
    list_with_events with = create_list_with_events(w, 0);
    __atomic_store_n(&was_destroyed, 0, __ATOMIC_SEQ_CST);
    hold_call("zeEventQueryStatus");
    launch_with_event(with.list, w->kernel, with.events[0]);
    await_held_call();
    finish_immediate(w, with.list);
    w->launches++;
    hold_time(1);
    assert_int_equal(pthread_create(&later, NULL, let_call_return_late, &destroyed_early), 0);
    ok(zeEventDestroy(with.events[0]));
    __atomic_store_n(&was_destroyed, 1, __ATOMIC_SEQ_CST);
    pthread_join(later, NULL);
    hold_time(0);
    assert_false(destroyed_early);
    with.events[0] = NULL;
    collect_all(profiler);
    assert_int_equal(zt_get_info(profiler).counts.collected, 1);
    destroy_list_with_events(&with);
    ok(zt_trace_stop(profiler));
    assert_int_equal(hangs_heard(), 0);
    close_profiler(w, profiler);
    check_work(w);
}

/* Once the application has signalled its event, it is not known whether a launch has ended. What waits for it is
   seen. */
static void launches_without_their_events_are_not_seen(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 80 * SECOND;
    zt_profiler *profiler = open_watched(w, &config);
    ok(zt_trace_start(profiler, NULL));
    work of = load_recorded(w, "count");
    list_with_events with = create_list_with_events(w, 0);
    launch_with_event(with.list, of.kernel, with.events[0]);
    await_kernel(&of);
    ok(zeEventHostSignal(with.events[0]));
    ze_event_handle_t gate = begin_waiting(w, profiler);
    pass_time(2 * config.hang_ns);
    await_hang(1);
    assert_string_equal(heard_hang.region, "saxpy"); /* the launch in "waits" */
    assert_int_equal(heard_hang.hang.others, 0);
    let_go(&of);
    finish_waiting(w, profiler, gate);
    finish_immediate(w, with.list);
    destroy_list_with_events(&with);
    ok(zt_trace_stop(profiler));
    unload_hang(w, NULL, &of);
    close_profiler(w, profiler);
    check_work(w);
}

/* After more regions than the watch looks at in one go. */
static void a_hang_behind_many_regions(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 2000 * MS;
    zt_profiler *profiler = open_watched(w, &config);
    work of = load_recorded(w, "count");
    for (int i = 0; i < 300; i++)
        append(w, profiler, of.list, "before");
    append_kernel(profiler, of.list, of.kernel, "stuck");
    append(w, profiler, of.list, "behind");
    ok(zeCommandListClose(of.list));
    begin_submitting();
    ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
    await_kernel(&of);
    await_hang(1);
    assert_string_equal(heard_hang.region, "stuck");
    assert_int_equal(heard_hang.hang.others, 0);
    w->launches += 301;
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
    check_work(w);
}

/* Of the lists that wait for each other, the one that was submitted first hangs. */
static void the_first_list_hangs(void **state) {
    world *w = (world *)*state;
    enum { LISTS = 3 };
    static const int orders[][LISTS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    static const char *const names[LISTS] = {"list 0", "list 1", "list 2"};
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    for (int i = 0; i < 3; i++) {
        work of = load_recorded(w, "count");
        ze_command_list_handle_t lists[LISTS];
        launch_kernel(of.list, of.kernel);
        ok(zeCommandListClose(of.list));
        for (int k = 0; k < LISTS; k++) {
            create_list(w, &lists[k]);
            append(w, profiler, lists[k], names[k]);
            ok(zeCommandListClose(lists[k]));
        }
        begin_submitting();
        ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &of.list, NULL));
        for (int k = 0; k < LISTS; k++) {
            ok(zt_execute(profiler, w->queue, 1, &lists[orders[i][k]], NULL));
            pass_time(1);
        }
        await_kernel(&of);
        await_hang(i + 1);
        assert_string_equal(heard_hang.region, names[orders[i][0]]);
        assert_int_equal(heard_hang.hang.others, LISTS - 1);
        assert_contains(heard_hang.text, "on 2 other lists");
        hold_time(1); /* what waited may be slow */
        let_go(&of);
        finish_queue(w);
        hold_time(0);
        w->launches += LISTS;
        for (int k = 0; k < LISTS; k++) {
            ok(zt_release(profiler, lists[k]));
            ok(zeCommandListDestroy(lists[k]));
        }
        unload_hang(w, NULL, &of);
    }
    close_profiler(w, profiler);
    check_work(w);
}

/* A list that was submitted before the one that hangs, and has ended a region meanwhile, is not reported, whichever
   the watch looks at first. */
static void the_list_that_goes_on_does_not_hang(void **state) {
    world *w = (world *)*state;
    enum { LISTS = 2, GATES = 3 };
    zt_watch_config config = config_of_watch();
    ze_event_handle_t gates[GATES], ended;
    config.hang_ns = 1000 * SECOND; /* what passes by itself does not matter */
    zt_profiler *profiler = open_watched(w, &config);
    create_event(w, GATES + 1, &ended);
    for (uint32_t i = 0; i < GATES; i++)
        create_event(w, i + 1, &gates[i]);
    for (int stuck_first = 0; stuck_first < 2; stuck_first++) {
        static const char *const names[GATES] = {"first", "second", "stuck"};
        ze_command_list_handle_t lists[LISTS];
        for (int i = 0; i < LISTS; i++)
            create_list(w, &lists[i]);
        for (int k = 0; k < GATES; k++) { /* "stuck" is alone on its list */
            int i = stuck_first ? (k + GATES - 1) % GATES : k;
            append_gated(w, profiler, lists[i == GATES - 1], names[i], gates[i], i == 0 ? ended : NULL);
        }
        for (int i = 0; i < LISTS; i++)
            ok(zeCommandListClose(lists[i]));
        ok(zt_execute(profiler, w->queue, 1, &lists[0], NULL));
        pass_time(1);
        ok(zt_execute(profiler, w->queue, 1, &lists[1], NULL));
        let_it_look(10); /* at each list at least once */
        pass_time(600 * SECOND);
        ok(zeEventHostSignal(gates[0]));
        await_event(ended);
        let_it_look(10);
        assert_int_equal(hangs_heard(), stuck_first);
        pass_time(600 * SECOND);
        await_hang(stuck_first + 1);
        assert_string_equal(heard_hang.region, "stuck");
        assert_int_equal(heard_hang.hang.others, 1);
        assert_in_range(heard_hang.hang.running_ns, 1200 * SECOND, 1300 * SECOND);
        ok(zeEventHostSignal(gates[1]));
        ok(zeEventHostSignal(gates[2]));
        finish_queue(w);
        collect_all(profiler);
        for (int i = 0; i < LISTS; i++) {
            ok(zt_release(profiler, lists[i]));
            ok(zeCommandListDestroy(lists[i]));
        }
        w->launches += GATES;
    }
    for (int i = 0; i < GATES; i++)
        ok(zeEventDestroy(gates[i]));
    ok(zeEventDestroy(ended));
    close_profiler(w, profiler);
    check_work(w);
}

/* Then there is the message alone, or with the file. */
static void nobody_is_called(void **state) {
    world *w = (world *)*state;
    uint64_t end = now_ns() + A_WHILE;
    zt_watch_config config = config_of_watch();
    config.function = NULL;
    zt_profiler *profiler = open_watched(w, &config);
    work of = begin_hang(w, profiler, "stuck");
    while (zt_get_info(profiler).watch.hangs == 0)
        assert_true(now_ns() < end);
    ok(zt_watch_stop(profiler));
    assert_int_equal(heard(w, "'stuck' has run for"), 1);
    assert_int_equal(heard(w, "call zt_debug_open in another program"), 1);
    assert_int_equal(heard(w, "The report is in"), 0);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* A millisecond: less would be noise. */
static void the_shortest_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 1;
    zt_profiler *profiler = open_watched(w, &config);
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_in_range(heard_hang.hang.running_ns, MS, A_WHILE);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* The kernel goes on, as the device goes on with what it has. */
static void the_profiler_is_closed_while_it_hangs(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_with_timeout(w, 10 * MS);
    ok(zt_watch(profiler, &config));
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    close_profiler(w, profiler);
    assert_counts_on(&of);
    finish_hang(w, NULL, &of);
}

/* ==== memory ============================================================================================== */

/* Any allocation fails once while the watch begins: that is reported, and it can begin afterwards. */
static void memory_is_short_at_the_start(void **state) {
    world *w = (world *)*state;
    enum { MOST = 20 };
    int refused = 0, last = 0;
    zt_config of_profiler = config_of(w);
    zt_watch_config config = config_of_watch();
    config.path = in_directory("hang.txt");
    of_profiler.groups = "";
    for (uint64_t i = 1; i < MOST && !last; i++) {
        zt_profiler *profiler = open_profiler(w, &of_profiler);
        uint64_t before = heap_allocations();
        fail_heap(i, 0);
        ze_result_t result = zt_watch(profiler, &config);
        last = heap_allocations() - before < i;
        fail_heap(0, 0);
        zt_watch_info info = zt_get_info(profiler).watch;
        if (result != ZE_RESULT_SUCCESS) {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
            assert_contains(zt_get_info(profiler).error, refused++ ? "the path of the report" : "the watch");
            assert_false(info.is_watching);
        }
        w->message_count = 0;
        ok(zt_watch(profiler, &config));
        assert_true(!last || result == ZE_RESULT_SUCCESS);
        close_profiler(w, profiler);
    }
    assert_int_equal(refused, 2);
    assert_true(last || INSTRUMENTED);
}

static int refuses_memory, refusals;

static void *allocate_unless_refused(size_t size, void *user) {
    (void)user;
    if (!__atomic_load_n(&refuses_memory, __ATOMIC_SEQ_CST))
        return malloc(size);
    __atomic_add_fetch(&refusals, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void release_memory(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* Without memory for their handles, no list can be looked at. The hang is reported when there is memory again. */
static void memory_is_short_for_lists(void **state) {
    world *w = (world *)*state;
    uint64_t end = now_ns() + A_WHILE;
    zt_watch_config config = config_of_watch();
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    of_profiler.allocator.allocate = allocate_unless_refused;
    of_profiler.allocator.release = release_memory;
    zt_profiler *profiler = open_profiler(w, &of_profiler);
    ok(zt_watch(profiler, &config));
    work of = load_recorded(w, "count");
    append_kernel(profiler, of.list, of.kernel, "stuck");
    ok(zeCommandListClose(of.list));
    __atomic_store_n(&refusals, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&refuses_memory, 1, __ATOMIC_SEQ_CST);
    ze_result_t result = zt_execute(profiler, w->queue, 1, &of.list, NULL);
    while (__atomic_load_n(&refusals, __ATOMIC_SEQ_CST) < 3 && now_ns() < end)
        nap();
    int hangs = hangs_heard(), refused = __atomic_load_n(&refusals, __ATOMIC_SEQ_CST);
    __atomic_store_n(&refuses_memory, 0, __ATOMIC_SEQ_CST);
    ok(result);
    assert_true(refused >= 3);
    assert_int_equal(hangs, 0);
    await_hang(1);
    assert_string_equal(heard_hang.region, "stuck");
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* ==== calls of the program meanwhile ====================================================================== */

/* While the watch asks for the state of an event, which the driver answers before or after that. The other list is
   released before the watch has looked at it. */
static void lists_are_released_meanwhile(void **state) {
    world *w = (world *)*state;
    enum { LISTS = 2 };
    zt_watch_config config = config_of_watch();
    config.hang_ns = 1000 * SECOND;
    zt_profiler *profiler = open_watched(w, &config);
    for (int has_signalled = 0; has_signalled < 2; has_signalled++) {
        ze_command_list_handle_t lists[LISTS];
        ze_event_handle_t gates[LISTS];
        for (uint32_t i = 0; i < LISTS; i++) {
            create_list(w, &lists[i]);
            create_event(w, i + 1, &gates[i]);
            zt_region region = zt_begin(profiler, lists[i], "released");
            ok(zeCommandListAppendWaitOnEvents(lists[i], 1, &gates[i]));
            launch(w, lists[i]);
            zt_end(&region);
            ok(zeCommandListClose(lists[i]));
        }
        ok(zt_execute(profiler, w->queue, LISTS, lists, NULL));
        __atomic_store_n(&ends_while_queried, has_signalled, __ATOMIC_SEQ_CST);
        hold_call("zeEventQueryStatus");
        await_held_call();
        for (int i = 0; i < LISTS; i++)
            ok(zeEventHostSignal(gates[i]));
        finish_queue(w);
        collect_all(profiler);
        for (int i = 0; i < LISTS; i++) {
            ok(zt_release(profiler, lists[i]));
            ok(zeCommandListDestroy(lists[i]));
            ok(zeEventDestroy(gates[i]));
        }
        let_call_return();
        run(w, profiler, "next");
        finish_immediate(w, w->immediate);
        collect_all(profiler);
    }
    ok(zt_watch_stop(profiler));
    assert_int_equal(hangs_heard(), 0);
    assert_int_equal(region_info(profiler, "released").count, 2 * LISTS);
    assert_int_equal(region_info(profiler, "next").count, 2);
    close_profiler(w, profiler);
    check_work(w);
}

/* ==== files =============================================================================================== */

static void read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("there is no %s", path);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

/* Files are numbered over all watches of the process. */
static void the_report_is_a_file(void **state) {
    world *w = (world *)*state;
    static char text[1 << 15];
    char pattern[256], name[64];
    zt_watch_config config = config_of_watch();
    snprintf(pattern, sizeof pattern, "%s", in_directory("hang.%p.txt"));
    config.path = pattern;
    zt_profiler *profiler = open_watched(w, &config);
    memset(pattern, 'x', sizeof pattern - 1); /* it was copied */
    for (int i = 1; i <= 2; i++) {
        work of = begin_hang(w, profiler, "stuck");
        await_hang(i);
        finish_hang(w, profiler, &of);
        if (i == 1)
            snprintf(name, sizeof name, "hang.%ld.txt", (long)getpid());
        else
            snprintf(name, sizeof name, "hang.%ld.2.txt", (long)getpid());
        read_file(in_directory(name), text, sizeof text);
        assert_string_equal(text, heard_hang.text);
        assert_int_equal(heard(w, name), 1);
    }
    close_profiler(w, profiler);
}

static void a_report_that_cannot_be_written(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.path = in_directory("none/hang.txt");
    zt_profiler *profiler = open_watched(w, &config);
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_int_equal(heard(w, "[CANNOT_WRITE] zt_watch"), 1);
    assert_int_equal(heard(w, "[HANG]"), 1);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* ==== processes =========================================================================================== */

/* Processes that hang when they are told so. */
enum { PROCESSES = 2 };

/* H hangs; E exits, with a kernel that would end if it went on; L exits while the watch is inside the driver,
   which answers after the exit functions of the library. */
static void *pass_time_for_ever(void *unused) {
    int is_over = 0;
    (void)unused;
    return pass_much_time(&is_over);
}

/* An exit function. Those of the library have run, and its functions must not be called any more. */
static zt_profiler *profiler_at_exit;

static void expect_no_late_report(void) {
    let_call_return();
    for (int i = 0; i < 100; i++)
        nap();
    ze_result_t stopped = zt_watch_stop(profiler_at_exit);
    _exit(stopped == ZE_RESULT_SUCCESS && hangs_heard() == 0 ? 0 : 1);
}

static int serve_hang(world *w, char letter, int from) {
    static work of;
    (void)from;
    if (letter == 'E') {
        let_go(&of);
        exit(0);
    }
    if (letter == 'L') {
        zt_watch_config config = config_of_watch();
        pthread_t passing;
        assert_int_equal(atexit(expect_no_late_report), 0);
        profiler_at_exit = open_watched(w, &config);
        of = begin_hang(w, profiler_at_exit, "stuck");
        hold_call("zeEventQueryStatus");
        await_held_call();
        pass_time(100 * config.hang_ns);
        let_go(&of);
        assert_int_equal(pthread_create(&passing, NULL, pass_time_for_ever, NULL), 0);
        exit(0);
    }
    if (letter == 'H') {
        zt_watch_config config = config_of_watch();
        zt_profiler *profiler = open_watched(w, &config);
        of = begin_hang(w, profiler, "stuck");
        await_hang(1);
    }
    return letter == 'H';
}

static void the_process_exits_while_it_hangs(void **state) {
    const process *made = new_process();
    int status;
    (void)state;
    tell(made, 'H');
    send_letter(made, 'E');
    assert_int_equal(waitpid(made->number, &status, 0), made->number);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void nobody_is_called_after_the_exit(void **state) {
    const process *made = new_process();
    int status;
    (void)state;
    send_letter(made, 'L');
    assert_int_equal(waitpid(made->number, &status, 0), made->number);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The child ends with the copies that it has; the watch goes on in its parent. */
static void a_child_is_forked(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    work of = begin_hang(w, profiler, "stuck");
    pid_t child = fork();
    if (child == 0) {
        zt_watch_stop(profiler);
        zt_close(profiler);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    await_hang(1);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* Runs the example on a device without sanitizers. Returns what it prints. */
static const char *run_example(const char *setting) {
    char program[PATH_MAX], device[PATH_MAX], command[4 * PATH_MAX];
    static char text[1 << 15];
    find_file("build/examples-O0/hang", program, sizeof program);
    find_file("build/libze_softgpu.so", device, sizeof device);
    snprintf(command, sizeof command,
             "cd '%s' && exec env %s ZE_ENABLE_ALT_DRIVERS='%s' ZET_ENABLE_METRICS=1 '%s' >output 2>&1",
             test_directory, setting, device, program);
    int status = system(command);
    read_file(in_directory("output"), text, sizeof text);
    if (status != 0)
        fail_msg("status 0x%x:\n%s", (unsigned)status, text);
    assert_contains(text, "'wait for the flag' has run for 0.");
    assert_contains(text, "results: right");
    return text;
}

static void the_example_finds_its_line(void **state) {
    static char text[1 << 15];
    (void)state;
    assert_contains(run_example("ZET_ENABLE_PROGRAM_DEBUGGING=1"), "spin.cl:6");
    read_file(in_directory("run.hang.txt"), text, sizeof text);
    assert_contains(text, "wait for the flag");
}

/* Where a device has no program debug, its driver may refuse to start when it is asked for that. */
static void the_example_does_not_ask_for_debug(void **state) {
    (void)state;
    run_example("-u ZET_ENABLE_PROGRAM_DEBUGGING");
}

/* ==== rules =============================================================================================== */

static void inert_and_refused(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    ok(zt_watch(NULL, &config));
    ok(zt_watch_stop(NULL));
    assert_false(zt_get_info(NULL).watch.is_watching);
    zt_profiler *profiler = open_profiler(w, NULL);
    ok(zt_watch_stop(profiler));
    assert_false(zt_get_info(profiler).watch.is_watching);
    ok(zt_watch(profiler, &config));
    ok(zt_watch(profiler, &config)); /* replaces it */
    ok(zt_watch_stop(profiler));
    ok(zt_watch_stop(profiler));
    close_profiler(w, profiler);
}

/* It has no device. */
static void an_unpacked_profiler_is_not_watched(void **state) {
    world *w = (world *)*state;
    static unsigned char bytes[1 << 16];
    size_t size = sizeof bytes;
    zt_config config = config_of(w);
    config.groups = "";
    zt_profiler *packed = open_profiler(w, &config), *unpacked;
    ok(zt_pack(packed, bytes, &size));
    ok(zt_unpack(bytes, size, NULL, &unpacked));
    assert_result(zt_watch(unpacked, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_contains(zt_get_info(unpacked).error, "the device of the profiler");
    assert_false(zt_get_info(unpacked).watch.is_watching);
    close_profiler(w, packed);
    zt_close(unpacked);
}

static int is_inside, may_return;

static void stay_inside(const zt_hang *hang, void *user) {
    (void)hang, (void)user;
    __atomic_store_n(&is_inside, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&may_return, __ATOMIC_SEQ_CST))
        nap();
}

/* Time passes as long as this runs, so that nobody waits for it. */
static void *let_time_pass(void *ended) {
    while (!__atomic_load_n((int *)ended, __ATOMIC_SEQ_CST)) {
        pass_time(100 * MS);
        nap();
    }
    return NULL;
}

static void the_function_does_not_return_in_time(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    pthread_t passing;
    int ended = 0;
    config.function = stay_inside;
    is_inside = may_return = 0;
    zt_profiler *profiler = open_watched(w, &config);
    work of = begin_hang(w, profiler, "stuck");
    await(&is_inside);
    assert_int_equal(pthread_create(&passing, NULL, let_time_pass, &ended), 0);
    ze_result_t stopped = zt_watch_stop(profiler), replaced = zt_watch(profiler, &config);
    zt_find_metric(profiler, "NO_SUCH"); /* so that the last message is another */
    zt_close(profiler);
    int is_close_refused = strstr(zt_get_info(profiler).error, "[WATCH_HANGS]") != NULL;
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    pthread_join(passing, NULL);
    assert_true(zt_get_info(profiler).watch.is_watching);
    __atomic_store_n(&may_return, 1, __ATOMIC_SEQ_CST);
    assert_result(stopped, ZE_RESULT_NOT_READY);
    assert_result(replaced, ZE_RESULT_NOT_READY);
    assert_true(heard(w, "[WATCH_HANGS]") > 0);
    assert_true(is_close_refused);
    ok(zt_watch_stop(profiler));
    assert_false(zt_get_info(profiler).watch.is_watching);
    finish_hang(w, profiler, &of);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "stuck").count, 1);
    close_profiler(w, profiler);
}

static zt_profiler *profiler_of_callback;
static int calls_inside;

static void call_inside(const zt_hang *hang, void *user) {
    (void)user;
    assert_result(zt_watch(profiler_of_callback, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(zt_watch_stop(profiler_of_callback), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    zt_close(profiler_of_callback);
    assert_true(zt_get_info(profiler_of_callback).watch.hangs == 1);
    zt_collect(profiler_of_callback, 0);
    assert_string_equal(hang->region, "stuck");
    __atomic_store_n(&calls_inside, 1, __ATOMIC_SEQ_CST);
}

static void the_function_must_not_end_the_watch(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.function = call_inside;
    config.path = "";
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    zt_profiler *profiler = profiler_of_callback = open_profiler(w, &of_profiler);
    ok(zt_watch(profiler, &config));
    work of = begin_hang(w, profiler, "stuck");
    await(&calls_inside);
    assert_int_equal(heard(w, "zt_watch was called from the log function, or from the function of a watch."),
                     1);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

static ze_result_t result_inside_sample;

static void watch_in_sample(const zt_sample *sample, void *user) {
    (void)sample, (void)user;
    result_inside_sample = zt_watch(profiler_of_callback, NULL);
}

static void the_sample_function_must_not_watch(void **state) {
    world *w = (world *)*state;
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    of_profiler.sample = watch_in_sample;
    result_inside_sample = ZE_RESULT_SUCCESS;
    zt_profiler *profiler = profiler_of_callback = open_profiler(w, &of_profiler);
    run(w, profiler, "sample");
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_result(result_inside_sample, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_int_equal(heard(w, "[INSIDE_CALLBACK] zt_watch"), 1);
    assert_false(zt_get_info(profiler).watch.is_watching);
    close_profiler(w, profiler);
    check_work(w);
}

static ze_result_t results_of_log[2];

static void log_and_watch(int result, const char *message, void *user) {
    (void)result, (void)user;
    if (!strstr(message, "[HANG]"))
        return;
    results_of_log[0] = zt_watch(profiler_of_callback, NULL);
    results_of_log[1] = zt_watch_stop(profiler_of_callback);
    __atomic_store_n(&calls_inside, 1, __ATOMIC_SEQ_CST);
}

static void the_log_must_not_end_the_watch(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_config of_profiler = config_of(w);
    calls_inside = 0;
    of_profiler.groups = "";
    of_profiler.log = log_and_watch;
    zt_profiler *profiler = profiler_of_callback = open_profiler(w, &of_profiler);
    ok(zt_watch(profiler, &config));
    work of = begin_hang(w, profiler, "stuck");
    await(&calls_inside);
    assert_result(results_of_log[0], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(results_of_log[1], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    await_hang(1);
    assert_true(zt_get_info(profiler).watch.is_watching);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HANG_TEST(a_hang_is_found_once),
        HANG_TEST(the_next_hang_is_another),
        HANG_TEST(work_that_goes_on_does_not_hang),
        HANG_TEST(recorded_work_that_goes_on_does_not_hang),
        HANG_TEST(recorded_regions_hang),
        HANG_TEST(regions_of_immediate_lists_hang),
        HANG_TEST(traced_launches_hang),
        HANG_TEST(launches_with_events_end),
        HANG_TEST(launches_with_events_hang),
        HANG_TEST(an_event_is_destroyed_meanwhile),
        HANG_TEST(launches_without_their_events_are_not_seen),
        HANG_TEST(a_hang_behind_many_regions),
        HANG_TEST(the_first_list_hangs),
        HANG_TEST(the_list_that_goes_on_does_not_hang),
        HANG_TEST(nobody_is_called),
        HANG_TEST(the_shortest_hang),
        cmocka_unit_test_setup_teardown(the_profiler_is_closed_while_it_hangs, open_leaky_world,
                                        abandon_world),
        HANG_TEST(memory_is_short_at_the_start),
        HANG_TEST(memory_is_short_for_lists),
        HANG_TEST(lists_are_released_meanwhile),
        HANG_TEST(the_report_is_a_file),
        HANG_TEST(a_report_that_cannot_be_written),
        HANG_TEST(the_process_exits_while_it_hangs),
        HANG_TEST(nobody_is_called_after_the_exit),
        HANG_TEST(a_child_is_forked),
        HANG_TEST(the_example_finds_its_line),
        HANG_TEST(the_example_does_not_ask_for_debug),
        HANG_TEST(inert_and_refused),
        HANG_TEST(an_unpacked_profiler_is_not_watched),
        HANG_TEST(the_function_must_not_end_the_watch),
        HANG_TEST(the_sample_function_must_not_watch),
        HANG_TEST(the_log_must_not_end_the_watch),
        HANG_TEST(the_function_does_not_return_in_time),
    };
    thread_of_tests = pthread_self();
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1); /* older loaders want it */
    fork_processes(PROCESSES, serve_hang);
    make_directory(NULL);
    int failed = cmocka_run_group_tests_name("watch", tests, start, NULL);
    remove_directory(NULL);
    return failed;
}
