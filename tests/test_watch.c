/* zt_watch: regions that hang and faults of the device are found, once, and it is found where. */
#define _GNU_SOURCE
#include "endless.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

enum { HELPER_DESCRIPTOR = 9 }; /* of its end of the socket */

/* ==== calls that fail, or do not return ==================================================================== */

/* In a helper, which has not come to main, the environment names the call that fails. */
#define HELPER_FAILS "ZT_TEST_HELPER_FAILS"

static int has_begun; /* main */
static const char *failing_call;
static int failures_left;

static void fail_call(const char *name, int times) {
    __atomic_store_n(&failures_left, times, __ATOMIC_SEQ_CST);
    __atomic_store_n(&failing_call, name, __ATOMIC_SEQ_CST);
}

/* Whether this call fails; by turns as one that is to be repeated, and for good. */
static int fails(const char *name) {
    static const int errors[] = {EIO, EAGAIN, EINTR, EAGAIN};
    const char *failing = has_begun ? __atomic_load_n(&failing_call, __ATOMIC_SEQ_CST) : getenv(HELPER_FAILS);
    if (!failing || strcmp(failing, name) != 0)
        return 0;
    int left = has_begun ? __atomic_fetch_sub(&failures_left, 1, __ATOMIC_SEQ_CST) : 1;
    errno = errors[(unsigned)(left - 1) % 4];
    return left > 0;
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    return fails("socketpair") ? -1 : REAL(socketpair)(domain, type, protocol, ends);
}

int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *); /* as the C library does */
    va_end(list);
    return fails("fcntl") ? -1 : REAL(fcntl)(descriptor, command, argument);
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions) {
    return fails("posix_spawn_file_actions_init") ? ENOMEM : REAL(posix_spawn_file_actions_init)(actions);
}

int posix_spawnattr_init(posix_spawnattr_t *attributes) {
    return fails("posix_spawnattr_init") ? ENOMEM : REAL(posix_spawnattr_init)(attributes);
}

int posix_spawnattr_setsigmask(posix_spawnattr_t *attributes, const sigset_t *mask) {
    return fails("posix_spawnattr_setsigmask") ? EINVAL : REAL(posix_spawnattr_setsigmask)(attributes, mask);
}

int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags) {
    return fails("posix_spawnattr_setflags") ? EINVAL : REAL(posix_spawnattr_setflags)(attributes, flags);
}

ssize_t readlink(const char *path, char *target, size_t size) {
    return fails("readlink") ? -1 : REAL(readlink)(path, target, size);
}

int posix_spawn(pid_t *number, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    return fails("posix_spawn")
               ? ENOMEM
               : REAL(posix_spawn)(number, path, actions, attributes, arguments, environment);
}

int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
    return fails("poll") ? -1 : REAL(poll)(descriptors, count, milliseconds);
}

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    return fails("send") ? -1 : REAL(send)(socket, bytes, size, flags);
}

ssize_t recv(int socket, void *bytes, size_t size, int flags) {
    return fails("recv") ? -1 : REAL(recv)(socket, bytes, size, flags);
}

int getsockopt(int socket, int level, int name, void *value, socklen_t *size) {
    int result = fails("getsockopt") ? -1 : REAL(getsockopt)(socket, level, name, value, size);
    if (fails("size of getsockopt"))
        *size -= 4;
    return result;
}

/* In a helper: its first message waits until the program has closed the other end of the socket. */
static void await_end_of_program(void) {
    struct pollfd hung_up = {HELPER_DESCRIPTOR, 0, 0};
    REAL(poll)(&hung_up, 1, (int)(A_WHILE / MS));
}

/* A driver that counts more objects than there is room for, whether it lists so many or not. */
static void count_too_many(const char *call, uint32_t room, uint32_t *count, void **listed, void *filler) {
    char listing[64], counting[64];
    snprintf(listing, sizeof listing, "%s lists too many", call);
    snprintf(counting, sizeof counting, "%s counts too many", call);
    const int lists = fails(listing);
    for (uint32_t i = *count; listed && lists && i < room; i++)
        listed[i] = filler;
    if (listed && (lists || fails(counting)))
        *count = 1000 * room;
}

ze_result_t ZE_APICALL zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
    uint32_t room = *count;
    ze_result_t result = REAL(zeDriverGet)(count, drivers);
    count_too_many("zeDriverGet", room, count, (void **)drivers, drivers ? drivers[0] : NULL);
    return result;
}

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices) {
    uint32_t room = *count;
    ze_result_t result = REAL(zeDeviceGet)(driver, count, devices);
    count_too_many("zeDeviceGet", room, count, (void **)devices, devices ? devices[0] : NULL);
    return result;
}

ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count,
                                             ze_device_handle_t *tiles) {
    uint32_t room = *count;
    ze_result_t result = REAL(zeDeviceGetSubDevices)(device, count, tiles);
    count_too_many("zeDeviceGetSubDevices", room, count, (void **)tiles, device);
    return result;
}

DIR *opendir(const char *path) {
    if (fails("first message")) /* it is sent later */
        await_end_of_program();
    if (fails("calloc")) /* it is next */
        fail_heap(1, 0);
    return fails("opendir") ? NULL : REAL(opendir)(path);
}

/* What this process has mapped, as the system tells it; NULL: as it does. */
static const char *mappings;

FILE *fopen(const char *path, const char *mode) {
    const int is_of_mappings = strcmp(path, "/proc/self/maps") == 0;
    if (is_of_mappings && mappings)
        return fmemopen((void *)(uintptr_t)mappings, strlen(mappings), mode);
    return is_of_mappings && fails("fopen") ? NULL : REAL(fopen)(path, mode);
}

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

static uint64_t address_of_faults; /* not 0: of all page faults */

ze_result_t ZE_APICALL zetDebugReadEvent(zet_debug_session_handle_t session, uint64_t timeout,
                                         zet_debug_event_t *event) {
    ze_result_t result = REAL(zetDebugReadEvent)(session, timeout, event);
    uint64_t address = __atomic_load_n(&address_of_faults, __ATOMIC_SEQ_CST);
    if (result == ZE_RESULT_SUCCESS && event->type == ZET_DEBUG_EVENT_TYPE_PAGE_FAULT && address)
        event->info.page_fault.address = address;
    return result;
}

ze_result_t ZE_APICALL zetDebugAttach(ze_device_handle_t device, const zet_debug_config_t *config,
                                      zet_debug_session_handle_t *session) {
    stay_in_held_call("zetDebugAttach");
    return REAL(zetDebugAttach)(device, config, session);
}

ze_result_t ZE_APICALL zeEventQueryKernelTimestamp(ze_event_handle_t event,
                                                   ze_kernel_timestamp_result_t *stamps) {
    stay_in_held_call("zeEventQueryKernelTimestamp");
    return REAL(zeEventQueryKernelTimestamp)(event, stamps);
}

ze_result_t ZE_APICALL zetDebugInterrupt(zet_debug_session_handle_t session, ze_device_thread_t thread) {
    stay_in_held_call("zetDebugInterrupt");
    return REAL(zetDebugInterrupt)(session, thread);
}

ze_result_t ZE_APICALL zetDebugReadRegisters(zet_debug_session_handle_t session, ze_device_thread_t thread,
                                             uint32_t type, uint32_t first, uint32_t count, void *values) {
    stay_in_held_call("zetDebugReadRegisters");
    return REAL(zetDebugReadRegisters)(session, thread, type, first, count, values);
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

/* Meanwhile no time passes for the watch: a busy machine may let a kernel wait for longer than hang_ns, and
   then no thread runs that could be stopped. */
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
    zt_hang_place place; /* the first */
    uint32_t threads[ZT_MAX_PLACES];
    char region[64], kernel[64], file[PATH_MAX], reason[512], fault[128], text[1 << 15];
} heard_hang = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void hear(const zt_hang *hang, void *user) {
    assert_ptr_equal(user, &heard_hang);
    pthread_mutex_lock(&heard_hang.mutex);
    heard_hang.hang = *hang;
    memset(&heard_hang.place, 0, sizeof heard_hang.place);
    heard_hang.kernel[0] = heard_hang.file[0] = 0;
    if (hang->place_count) {
        heard_hang.place = hang->places[0];
        for (uint32_t i = 0; i < hang->place_count; i++)
            heard_hang.threads[i] = hang->places[i].threads;
        snprintf(heard_hang.kernel, sizeof heard_hang.kernel, "%s", hang->places[0].kernel);
        snprintf(heard_hang.file, sizeof heard_hang.file, "%s", hang->places[0].file);
    }
    snprintf(heard_hang.region, sizeof heard_hang.region, "%s", hang->region);
    snprintf(heard_hang.reason, sizeof heard_hang.reason, "%s", hang->reason);
    snprintf(heard_hang.fault, sizeof heard_hang.fault, "%s", hang->fault);
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
    zt_watch_config config = zt_watch_config_default();
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
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    zt_profiler *profiler = open_profiler(w, &config);
    ok(zt_watch(profiler, watch));
    assert_true(zt_watch_get_info(profiler).is_watching);
    return profiler;
}

static void assert_debugged_by(const zt_profiler *profiler, zt_debugged_by expected) {
    zt_watch_info info = zt_watch_get_info(profiler);
    if (info.debugged_by != expected)
        fail_msg("debugged by %d, not %d: %s", (int)info.debugged_by, (int)expected, info.reason);
}

static void assert_place(const char *kernel) {
    if (heard_hang.hang.stopped == 0)
        fail_msg("no thread was stopped:\n%s", heard_hang.text);
    assert_int_equal(heard_hang.hang.place_count, 1);
    assert_int_equal(heard_hang.place.threads, 1);
    assert_contains(heard_hang.kernel, kernel);
    assert_true(heard_hang.place.address != 0);
    assert_contains(heard_hang.file, "endless.cl");
    assert_true(heard_hang.place.line > 0);
    assert_contains(heard_hang.text, kernel);
    assert_contains(heard_hang.text, "endless.cl:");
}

/* ==== hangs =============================================================================================== */

static void a_hang_is_found_once(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_ITSELF);
    work of = load_recorded(w, "count");
    append_kernel(profiler, of.list, of.kernel, "stuck");
    for (int i = 0; i < 30; i++) {
        append(w, profiler, of.list, "behind");
        append(w, profiler, w->list, "beside");
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
    assert_false(heard_hang.hang.is_fault);
    assert_false(heard_hang.hang.has_ended);
    assert_false(heard_hang.hang.is_left_stopped);
    assert_in_range(heard_hang.hang.running_ns, 20 * MS, A_WHILE);
    assert_int_equal(heard_hang.hang.others, 1);
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_ITSELF);
    assert_string_equal(heard_hang.reason, "");
    assert_place("count");
    assert_contains(heard_hang.text, "'stuck' has run for");
    assert_contains(heard_hang.text, "and has not ended");
    assert_contains(heard_hang.text, "the process itself");
    assert_contains(heard_hang.text, "1 stopped");
    assert_contains(heard_hang.text, "The work was resumed");
    let_it_look(30);
    assert_int_equal(hangs_heard(), 1);
    assert_int_equal(heard(w, "[HANG] zt_watch: 'stuck' has run for"), 1);
    zt_watch_info info = zt_watch_get_info(profiler);
    assert_int_equal(info.hangs, 1);
    assert_int_equal(info.faults, 0);
    assert_counts_on(&of);
    ok(zt_watch_stop(profiler)); /* what is behind may be slow on a busy machine */
    let_go(&of);
    finish_queue(w);
    collect_all(profiler);
    assert_int_equal(region_info(profiler, "behind").count, 30);
    assert_int_equal(region_info(profiler, "beside").count, 30);
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
        assert_place("count");
        finish_hang(w, profiler, &of);
    }
    assert_int_equal(zt_watch_get_info(profiler).hangs, 3);
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
    config.hang_ns = 80 * SECOND; /* what passes by itself does not matter */
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
            pass_time(60 * SECOND);
            let_it_look(2);
            assert_int_equal(hangs_heard(), round - 1);
            if (i < REGIONS - 1) {
                ok(zeEventHostSignal(gates[i]));
                await_event(ended);
            }
        }
        pass_time(60 * SECOND);
        await_hang(round);
        assert_string_equal(heard_hang.region, "third");
        assert_in_range(heard_hang.hang.running_ns, 120 * SECOND, 180 * SECOND - 1);
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
        assert_place("count");
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
        assert_place("count");
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
    assert_place("count");
    let_go(&of);
    finish_immediate(w, list);
    ok(zeCommandListDestroy(list));
    unload_hang(w, profiler, &of);
    ok(zt_trace_stop(profiler));
    close_profiler(w, profiler);
}

/* A list, and events that a tracer lets slots keep: their pool was created while it traces. */
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
    /* in the time that has passed, a clock of the device may have turned */
    assert_int_equal(zt_get_counts(profiler).lost, zt_get_cause(profiler, ZT_LOST_IMPLAUSIBLE));
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
        assert_string_equal(heard_hang.region, "count");
        assert_int_equal(heard_hang.hang.others, 1);
        assert_place("count");
        let_go(&of);
        finish_waiting(w, profiler, gate);
        finish(w, &with);
        collect_all(profiler);
        destroy_list_with_events(&with);
        unload_hang(w, NULL, &of);
    }
    /* in the time that has passed, a clock of the device may have turned */
    assert_int_equal(zt_get_counts(profiler).lost, zt_get_cause(profiler, ZT_LOST_IMPLAUSIBLE));
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
    for (int collected = 0; collected < 2; collected++) {
        list_with_events with = create_list_with_events(w, 0);
        __atomic_store_n(&was_destroyed, 0, __ATOMIC_SEQ_CST);
        hold_call("zeEventQueryKernelTimestamp");
        launch_with_event(with.list, w->kernel, with.events[0]);
        await_held_call();
        finish_immediate(w, with.list);
        w->launches++;
        if (collected)
            ok(zt_collect(profiler, 0));
        hold_time(1);
        assert_int_equal(pthread_create(&later, NULL, let_call_return_late, &destroyed_early), 0);
        ok(zeEventDestroy(with.events[0]));
        __atomic_store_n(&was_destroyed, 1, __ATOMIC_SEQ_CST);
        pthread_join(later, NULL);
        hold_time(0);
        assert_false(destroyed_early);
        with.events[0] = NULL;
        collect_all(profiler);
        assert_int_equal(zt_get_counts(profiler).collected, collected + 1);
        destroy_list_with_events(&with);
    }
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

/* The device answers slowly, so that the kernel ends while its thread is being stopped, or after that. */
static void a_hang_ends_by_itself(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    assert_true(gpu.set_call_cost("zetDebugInterrupt", 20 * MS));
    for (int i = 1; i <= 5; i++) {
        uint64_t before = calls("zetDebugInterrupt"), end = now_ns() + A_WHILE;
        work of = begin_hang(w, profiler, "short");
        while (calls("zetDebugInterrupt") == before)
            assert_true(now_ns() < end);
        let_go(&of);
        await_hang(i);
        if (heard_hang.hang.has_ended)
            assert_contains(heard_hang.text, "ended while threads were being stopped");
        finish_hang(w, profiler, &of);
    }
    close_profiler(w, profiler);
}

/* On two threads of the device, and one of them does not tell where it is. */
static void two_kernels_hang(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    uint32_t reads = 0;
    if (!can_tell_immediate())
        skip();
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    zt_profiler *profiler = open_watched(w, &config);
    for (int hidden = 0; hidden < 2; hidden++) {
        work beside = begin_counting(w), of = load_work(w, w->device, "count");
        last_words = of.words;
        if (hidden) /* the last call of the first hang was for the place of a thread */
            inject("zetDebugReadRegisters", reads, ZE_RESULT_ERROR_UNKNOWN);
        gpu.reset_calls();
        begin_submitting();
        append_kernel(profiler, of.list, of.kernel, "stuck");
        await_kernel(&of);
        await_hang(hidden + 1);
        reads = (uint32_t)calls("zetDebugReadRegisters");
        assert_int_equal(heard_hang.hang.stopped, 2);
        assert_int_equal(heard_hang.hang.threads_elsewhere, hidden);
        assert_string_equal(heard_hang.region, "stuck");
        assert_contains(heard_hang.kernel, "count");
        assert_contains(heard_hang.text, "2 stopped");
        if (hidden)
            assert_contains(heard_hang.text, "1  elsewhere");
        if (heard_hang.hang.place_count == 1)
            assert_int_equal(heard_hang.place.threads, 2 - hidden);
        else
            assert_int_equal(heard_hang.hang.place_count, 2);
        assert_counts_on(&of);
        assert_counts_on(&beside);
        let_go(&of);
        finish_immediate(w, of.list);
        unload_hang(w, profiler, &of);
        finish_work(w, &beside);
    }
    close_profiler(w, profiler);
}

/* Of 1024 threads, at 45 places. Those with the most threads are listed, and the threads at the others are
   counted, whichever places are found first. */
static void threads_at_many_places(void **state) {
    world *w = (world *)*state;
    enum { THREADS = 1024, LAST = 34, MOST = 44 }; /* groups of 1 to 44 threads, and the rest */
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    for (int in_order = 0; in_order < 2; in_order++) {
        uint32_t listed = 0, size = MOST;
        gpu.behave(SOFTGPU_DEBUG_MANY_THREADS, 1);
        gpu.behave(SOFTGPU_DEBUG_THREADS_IN_ORDER, (uint32_t)in_order);
        work of = begin_hang(w, profiler, "stuck");
        await_hang(in_order + 1);
        gpu.behave(SOFTGPU_DEBUG_MANY_THREADS, 0);
        assert_int_equal(heard_hang.hang.stopped, THREADS);
        assert_int_equal(heard_hang.hang.unstopped, 0);
        assert_int_equal(heard_hang.hang.place_count, ZT_MAX_PLACES);
        for (int i = 0, is_second = 0; i < ZT_MAX_PLACES; i++) {
            assert_int_equal(heard_hang.threads[i], size);
            listed += size;
            if (size == LAST && !is_second)
                is_second = 1;
            else
                size--;
        }
        assert_int_equal(heard_hang.hang.threads_elsewhere, THREADS - listed);
        assert_int_equal(heard(w, "1024 threads were stopped by the process itself: 44 in "), in_order + 1);
        assert_int_equal(heard(w, " and elsewhere. "), in_order + 1);
        assert_contains(heard_hang.text, "elsewhere");
        finish_hang(w, profiler, &of);
    }
    close_profiler(w, profiler);
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
        assert_contains(heard_hang.text, "On 2 other lists");
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
    config.leave_stopped = 1;
    zt_profiler *profiler = open_watched(w, &config);
    gpu.behave(SOFTGPU_DEBUG_THREADS_UNAVAILABLE, 1);
    work of = begin_hang(w, profiler, "stuck");
    while (zt_watch_get_info(profiler).hangs == 0)
        assert_true(now_ns() < end);
    assert_false(zt_watch_get_info(profiler).is_stopped); /* there is nothing that could be */
    ok(zt_watch_stop(profiler));
    assert_int_equal(heard(w, "'stuck' has run for"), 1);
    assert_int_equal(heard(w, "0 threads were stopped by the process itself. "), 1);
    assert_int_equal(heard(w, "left stopped"), 0);
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

static void threads_are_left_stopped(void **state) {
    world *w = (world *)*state;
    for (int by_helper = 0; by_helper < 2; by_helper++) {
        zt_watch_config config = config_of_watch();
        config.leave_stopped = 1;
        gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, (uint32_t)by_helper);
        zt_profiler *profiler = open_watched(w, &config);
        assert_debugged_by(profiler, by_helper ? ZT_DEBUGGED_BY_HELPER : ZT_DEBUGGED_BY_ITSELF);
        work of = begin_hang(w, profiler, "stuck");
        await_hang(1);
        assert_place("count");
        assert_true(heard_hang.hang.is_left_stopped);
        assert_contains(heard_hang.text, "left stopped");
        assert_true(zt_watch_get_info(profiler).is_stopped);
        assert_stands_still(&of);
        ok(zt_watch_stop(profiler));
        assert_false(zt_watch_get_info(profiler).is_stopped);
        assert_false(zt_watch_get_info(profiler).is_watching);
        assert_counts_on(&of);
        finish_hang(w, profiler, &of);
        close_profiler(w, profiler);
    }
}

/* The kernel goes on, as the device goes on with what it has. */
static void the_profiler_is_closed_while_it_hangs(void **state) {
    world *w = (world *)*state;
    for (int by_helper = 0; by_helper < 2; by_helper++) {
        zt_watch_config config = config_of_watch();
        config.leave_stopped = 1;
        gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, (uint32_t)by_helper);
        zt_profiler *profiler = open_with_timeout(w, 10 * MS);
        gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
        ok(zt_watch(profiler, &config));
        work of = begin_hang(w, profiler, "stuck");
        await_hang(1);
        close_profiler(w, profiler);
        assert_counts_on(&of);
        finish_hang(w, NULL, &of);
    }
}

/* ==== who debugs ========================================================================================== */

static void a_helper_debugs(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    assert_contains(zt_watch_get_info(profiler).reason, "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS");
    for (int i = 1; i <= 2; i++) {
        work of = begin_hang(w, profiler, "stuck");
        await_hang(i);
        assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_HELPER);
        assert_place("count");
        assert_contains(heard_hang.text, "a helper process");
        assert_contains(heard_hang.text, "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS");
        assert_counts_on(&of);
        finish_hang(w, profiler, &of);
    }
    close_profiler(w, profiler);
}

static void expect_no_places(world *w, zt_profiler *profiler, const char *reason) {
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason, reason);
    assert_int_equal(heard(w, "[NOT_DEBUGGED]"), 1);
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_string_equal(heard_hang.region, "stuck");
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_NOBODY);
    assert_int_equal(heard_hang.hang.place_count, 0);
    assert_int_equal(heard_hang.hang.stopped, 0);
    assert_contains(heard_hang.reason, reason);
    assert_contains(heard_hang.text, reason);
    assert_contains(heard_hang.text, "nobody");
    assert_int_equal(heard(w, "[HANG]"), 1);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

static void no_helper_is_wanted(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.no_helper = 1;
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    expect_no_places(w, open_watched(w, &config), "config.no_helper is set");
}

static void the_device_cannot_be_debugged(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 1);
    expect_no_places(w, open_watched(w, &config), "cannot be debugged");
}

static void debugging_is_not_enabled(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, NULL);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 1);
    w->message_count = 0;
    ok(zt_watch(profiler, &config));
    expect_no_places(w, profiler, "ZET_ENABLE_PROGRAM_DEBUGGING");
}

static void nobody_may_debug(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 1);
    expect_no_places(w, open_watched(w, &config), "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS");
}

/* When it has gone, the next hang has places. */
static void another_debugger_is_attached(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zet_debug_config_t own = {(uint32_t)getpid()};
    zet_debug_session_handle_t session;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    ok(zetDebugAttach(w->device, &own, &session));
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason, "ZE_RESULT_ERROR_NOT_AVAILABLE");
    ok(zetDebugDetach(session));
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_ITSELF);
    assert_place("count");
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

static void the_debugger_is_detached(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    uint64_t end = now_ns() + A_WHILE;
    gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_INVALID);
    while (zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_NOBODY)
        assert_true(now_ns() < end);
    assert_contains(zt_watch_get_info(profiler).reason, "ended");
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_place("count");
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

static void no_thread_can_be_stopped(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    gpu.behave(SOFTGPU_DEBUG_THREADS_UNAVAILABLE, 1);
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_int_equal(heard_hang.hang.stopped, 0);
    assert_true(heard_hang.hang.unstopped > 0);
    assert_contains(heard_hang.text, "0 stopped");
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* Whatever fails, there is one report, and the kernel is not left stopped. */
static void any_call_fails_once(void **state) {
    world *w = (world *)*state;
    static const char *const names[] = {"zetDeviceGetDebugProperties",
                                        "zetDebugAttach",
                                        "zetDebugReadEvent",
                                        "zetDebugAcknowledgeEvent",
                                        "zetDebugInterrupt",
                                        "zetDebugResume",
                                        "zetDebugGetRegisterSetProperties",
                                        "zetDebugReadMemory",
                                        "zetDebugReadRegisters",
                                        "zetDebugDetach"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        zt_watch_config config = config_of_watch();
        zt_config of_profiler = config_of(w);
        of_profiler.groups = "";
        config.no_helper = 1;
        gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
        zt_profiler *profiler = open_profiler(w, &of_profiler);
        inject(names[i], 1, ZE_RESULT_ERROR_UNKNOWN);
        ok(zt_watch(profiler, &config));
        work of = begin_hang(w, profiler, "stuck");
        await_hang(1);
        assert_string_equal(heard_hang.region, "stuck");
        ok(zt_watch_stop(profiler));
        assert_counts_on(&of);
        finish_hang(w, profiler, &of);
        close_profiler(w, profiler);
        inject(names[i], 0, ZE_RESULT_SUCCESS);
    }
}

static pid_t helper_of(pid_t parent);
static void await_no_helper(pid_t parent);

/* Of the device of a world with two devices of two tiles, or of a tile. A helper of an environment in which
   there is but one device does not find the second. */
static void the_helper_finds_the_device(void **state) {
    world *w = (world *)*state;
    ze_device_handle_t devices[2], tiles[2];
    uint32_t count = 2;
    zt_watch_config config = config_of_watch();
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    gpu.set_devices(2, 2);
    ok(zeDeviceGet(w->driver, &count, devices));
    ok(zeDeviceGetSubDevices(devices[1], &count, tiles));
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    gpu.behave(SOFTGPU_DEBUG_SUB_DEVICES, 1);
    zt_profiler *profiler = open_on(w, devices[1], &of_profiler);
    ok(zt_watch(profiler, &config));
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason, "the helper does not find the device");
    assert_int_equal(heard(w, "[NOT_DEBUGGED]"), 1);
    await_no_helper(getpid());
    setenv("SOFTGPU_DEVICES", "2", 1);
    setenv("SOFTGPU_SUB_DEVICES", "2", 1);
    ok(zt_watch(profiler, &config));
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    close_profiler(w, profiler);
    setenv("SOFTGPU_BEHAVE", "DEBUG_SUB_DEVICES", 1);
    profiler = open_on(w, tiles[1], &of_profiler);
    ok(zt_watch(profiler, &config));
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    close_profiler(w, profiler);
    unsetenv("SOFTGPU_DEVICES");
    unsetenv("SOFTGPU_SUB_DEVICES");
    unsetenv("SOFTGPU_BEHAVE");
}

/* In the helper, which looks for a device that is not there, the driver counts too much. */
static void the_helper_does_not_trust_counts(void **state) {
    world *w = (world *)*state;
    static const char *const calls_that_count[] = {"zeDriverGet", "zeDeviceGet", "zeDeviceGetSubDevices"};
    ze_device_handle_t devices[2];
    uint32_t count = 2;
    zt_watch_config config = config_of_watch();
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    gpu.set_devices(2, 0);
    ok(zeDeviceGet(w->driver, &count, devices));
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_on(w, devices[1], &of_profiler);
    for (int i = 0; i < 6; i++) {
        char fault[64];
        snprintf(fault, sizeof fault, "%s %s too many", calls_that_count[i / 2], i % 2 ? "lists" : "counts");
        setenv(HELPER_FAILS, fault, 1);
        ok(zt_watch(profiler, &config));
        unsetenv(HELPER_FAILS);
        assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
        assert_contains(zt_watch_get_info(profiler).reason, "the helper does not find the device");
        await_no_helper(getpid());
    }
    close_profiler(w, profiler);
}

/* Killed, or stopped for longer than the watch waits. The next hang has a new one. */
static void the_helper_is_lost(void **state) {
    world *w = (world *)*state;
    static const int signals[] = {SIGKILL, SIGSTOP};
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    for (int i = 0; i < 2; i++) {
        zt_watch_config config = config_of_watch();
        zt_profiler *profiler = open_watched(w, &config);
        uint64_t end = now_ns() + A_WHILE;
        assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
        assert_int_equal(kill(helper_of(getpid()), signals[i]), 0);
        while (zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_NOBODY) {
            assert_true(now_ns() < end);
            if (signals[i] == SIGSTOP) {
                pass_time(100 * MS);
                end += 100 * MS;
            }
            nap();
        }
        assert_contains(zt_watch_get_info(profiler).reason,
                        "the helper process has ended, or does not answer");
        await_no_helper(getpid());
        work of = begin_hang(w, profiler, "stuck");
        await_hang(1);
        assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_HELPER);
        assert_place("count");
        finish_hang(w, profiler, &of);
        close_profiler(w, profiler);
    }
}

/* A message that no helper has written, for the watch: through the helper's own end of the socket. */
static void write_as(pid_t helper, const void *bytes, size_t size) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
    int of_helper = (int)syscall(SYS_pidfd_open, helper, 0);
    int end = of_helper < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, of_helper, HELPER_DESCRIPTOR, 0);
    if (end >= 0)
        assert_int_equal(send(end, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    int error = errno;
    close(of_helper);
    close(end);
    if (end >= 0)
        return;
    printf("skipped: no descriptor of another process: %s\n", strerror(error));
#else
    (void)helper, (void)bytes, (void)size;
    puts("skipped: this system's headers do not know pidfd_getfd");
#endif
    skip();
}

/* What it cannot have written is not believed, and it is dismissed. */
static void the_helper_writes_rubbish(void **state) {
    world *w = (world *)*state;
    static unsigned char rubbish[1 << 16];
    static const struct {
        size_t size;
        int byte;
    } messages[] = {{3, 0}, {8192, 0}, {8192, 255}, {sizeof rubbish, 255}};
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        uint64_t end = now_ns() + A_WHILE;
        ok(zt_watch(profiler, &config));
        assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
        memset(rubbish, messages[i].byte, sizeof rubbish);
        write_as(helper_of(getpid()), rubbish, messages[i].size);
        while (zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_NOBODY)
            assert_true(now_ns() < end);
        assert_contains(zt_watch_get_info(profiler).reason, "has ended, or does not answer");
        await_no_helper(getpid());
    }
    work of = begin_hang(w, profiler, "stuck");
    await_hang(1);
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_HELPER);
    assert_place("count");
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* The n-th call of the driver in the helper fails, or the kernel's debugger there: the reason is reported, and
   nobody is left behind. */
static void any_call_of_the_helper_fails(void **state) {
    world *w = (world *)*state;
    int helped = 0, not_helped = 0;
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    for (int i = 1; i <= 16; i++) {
        zt_watch_config config = config_of_watch();
        char fault[32];
        zt_profiler *profiler = open_profiler(w, &of_profiler);
        snprintf(fault, sizeof fault, "%d:%u", i, (unsigned)ZE_RESULT_ERROR_UNKNOWN);
        setenv("SOFTGPU_FAIL", fault, 1);
        ok(zt_watch(profiler, &config));
        unsetenv("SOFTGPU_FAIL");
        zt_watch_info info = zt_watch_get_info(profiler);
        if (info.debugged_by == ZT_DEBUGGED_BY_NOBODY) {
            assert_contains(info.reason, "ZE_RESULT_ERROR_"); /* of this process and the helper, or later */
            if (!strstr(info.reason, "zetDebugReadEvent failed"))
                assert_contains(info.reason, " A helper process: ");
            not_helped++;
        } else {
            assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
            helped++;
        }
        close_profiler(w, profiler);
        await_no_helper(getpid());
    }
    assert_true(helped > 0 && not_helped > 0);
}

/* So that a program which is started as a helper, and does not become one, does not start the next one. */
static void no_helper_of_a_helper(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    setenv("ZETOOLS_HELPER_1", "1", 1);
    zt_profiler *profiler = open_watched(w, &config);
    unsetenv("ZETOOLS_HELPER_1");
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason, "A helper process: this process is one itself");
    assert_int_equal(helper_of(getpid()), 0);
    close_profiler(w, profiler);
}

/* The system would start the helper with the rights of the program's file, and it must not serve then. */
static void no_helper_with_extra_rights(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    assume_extra_rights(1);
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason,
                    "A helper process: this program has more rights than");
    assert_int_equal(helper_of(getpid()), 0);
    close_profiler(w, profiler);
}

/* By zt_watch_stop. The hang is reported, and not as if somebody had failed. */
static void the_watch_is_stopped_while_the_helper_answers(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    config.hang_ns = 4000 * MS;
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    work of = begin_hang(w, profiler, "stuck");
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1); /* it stops the kernel, and waits for seconds to hear of it */
    pass_time(config.hang_ns);
    uint64_t end = now_ns() + A_WHILE;
    while (!gpu.is_stopped()) {
        assert_true(now_ns() < end);
        nap();
    }
    ok(zt_watch_stop(profiler));
    assert_int_equal(hangs_heard(), 1);
    assert_string_equal(heard_hang.region, "stuck");
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_NOBODY);
    assert_string_equal(heard_hang.reason, "the watch was stopped meanwhile");
    assert_int_equal(heard(w, "Where is not known: the watch was stopped meanwhile"), 1);
    await_no_helper(getpid());
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    assert_counts_on(&of);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

static void *stop_watch(void *profiler) {
    ok_on_thread(zt_watch_stop((zt_profiler *)profiler));
    return NULL;
}

/* The device never answers, and no time passes: the end of the watch does not wait for the answer. */
static void the_watch_is_stopped_while_no_thread_stops(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    pthread_t stopping;
    config.hang_ns = 4000 * MS;
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_ITSELF);
    work of = begin_hang(w, profiler, "stuck");
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 1);
    let_it_look(2);
    uint64_t before = calls("zetDebugInterrupt"), end = now_ns() + 100 * A_WHILE;
    hold_time(1);
    while (calls("zetDebugInterrupt") == before) {
        assert_true(now_ns() < end);
        pass_time(100 * MS);
        nap();
    }
    assert_int_equal(pthread_create(&stopping, NULL, stop_watch, profiler), 0);
    for (int i = 0; i < 10000 && hangs_heard() == 0; i++)
        nap();
    int reported = hangs_heard();
    hold_time(0);
    join_in_time(w, stopping);
    assert_no_noted_failure();
    assert_int_equal(reported, 1);
    assert_string_equal(heard_hang.region, "stuck");
    assert_contains(heard_hang.reason, "has not answered");
    gpu.behave(SOFTGPU_DEBUG_EVENTS_LOST, 0);
    assert_counts_on(&of);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* Once more, at a hang: nobody may debug. No helper is started then. */
static void the_watch_is_stopped_while_it_attaches(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    uint64_t end = now_ns() + A_WHILE;
    gpu.behave(SOFTGPU_DEBUG_NO_PERMISSION, 1);
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_int_equal(heard(w, "[NOT_DEBUGGED]"), 1);
    gpu.reset_calls();
    assert_true(gpu.set_call_cost("zetDebugAttach", 500 * MS));
    work of = begin_hang(w, profiler, "stuck");
    while (calls("zetDebugAttach") == 0)
        assert_true(now_ns() < end);
    ok(zt_watch_stop(profiler));
    assert_int_equal(hangs_heard(), 1);
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(heard_hang.reason, "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS");
    assert_contains(heard_hang.reason, "A helper process: the watch was stopped meanwhile.");
    assert_int_equal(helper_of(getpid()), 0);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

static int count_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void assert_no_helper(const zt_profiler *profiler, const char *why, int descriptors) {
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason, " A helper process: ");
    assert_contains(zt_watch_get_info(profiler).reason, why);
    assert_int_equal(helper_of(getpid()), 0);
    assert_int_equal(count_descriptors(), descriptors);
}

/* Of the system. The reason is reported, and nothing stays open. */
static void no_helper_can_be_started(void **state) {
    world *w = (world *)*state;
    static const char *const names[] = {"socketpair",
                                        "fcntl",
                                        "posix_spawn_file_actions_init",
                                        "posix_spawnattr_init",
                                        "posix_spawnattr_setsigmask",
                                        "posix_spawnattr_setflags",
                                        "posix_spawn"};
    zt_watch_config config = config_of_watch();
    config.no_helper = 1;
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_watched(w, &config);
    const int descriptors = count_descriptors();
    config.no_helper = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fail_call(names[i], 1);
        ok(zt_watch(profiler, &config));
        fail_call(NULL, 0);
        assert_no_helper(profiler, "no process could be started", descriptors);
    }
    ok(zt_watch(profiler, &config));
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    close_profiler(w, profiler);
}

/* The file of the program is looked for in the list of mappings, of which not every line is one. */
static void the_mappings_are_not_known(void **state) {
    world *w = (world *)*state;
    static char list[1 << 16];
    zt_watch_config config = config_of_watch();
    config.no_helper = 1;
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_watched(w, &config);
    const int descriptors = count_descriptors();
    config.no_helper = 0;
    for (int i = 0; i < 2; i++) {
        fail_call(i ? "fopen" : "readlink", 1);
        ok(zt_watch(profiler, &config));
        fail_call(NULL, 0);
        assert_no_helper(profiler, "the file that it would be started from is not known", descriptors);
    }

    static const char strange[] = "the rest of a long name: /somewhere\n"
                                  "fffffffffffffff0-ffffffffffffffff r-xp 00000000 00:00 0 /elsewhere\n";
    mappings = strange;
    ok(zt_watch(profiler, &config));
    assert_no_helper(profiler, "the file that it would be started from is not known", descriptors);
    memcpy(list, strange, sizeof strange);
    FILE *file = REAL(fopen)("/proc/self/maps", "r");
    list[strlen(strange) + fread(list + strlen(strange), 1, sizeof list - sizeof strange, file)] = 0;
    fclose(file);
    mappings = list;
    ok(zt_watch(profiler, &config));
    mappings = NULL;
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    close_profiler(w, profiler);
}

/* Then it is dismissed, and the next hang has a new one. */
static void no_message_reaches_the_helper(void **state) {
    world *w = (world *)*state;
    static const struct {
        const char *call;
        int times;
    } faults[] = {{"send", 1}, {"poll", 3}, {"recv", 4}};
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_watched(w, &config);
    for (int i = 0; i < 3; i++) {
        uint64_t end = now_ns() + A_WHILE;
        assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
        fail_call(faults[i].call, faults[i].times);
        while (zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_NOBODY) {
            assert_true(now_ns() < end);
            nap();
        }
        fail_call(NULL, 0);
        assert_contains(zt_watch_get_info(profiler).reason,
                        "the helper process has ended, or does not answer");
        await_no_helper(getpid());
        work of = begin_hang(w, profiler, "stuck");
        await_hang(i + 1);
        assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_HELPER);
        assert_place("count");
        finish_hang(w, profiler, &of);
    }
    close_profiler(w, profiler);
}

static void *let_time_pass(void *ended);

/* Nobody knows its number when it is given up. It ends when the socket is closed. */
static void the_helper_does_not_answer(void **state) {
    world *w = (world *)*state;
    pthread_t passing;
    int ended = 0;
    zt_watch_config config = config_of_watch();
    zt_config of_profiler = config_of(w);
    of_profiler.groups = "";
    config.hang_ns = 1000 * SECOND;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_profiler(w, &of_profiler);
    setenv(HELPER_FAILS, "first message", 1);
    assert_int_equal(pthread_create(&passing, NULL, let_time_pass, &ended), 0);
    ze_result_t result = zt_watch(profiler, &config); /* may return before the helper is given up */
    for (int i = 0; i < 10000 && !*zt_watch_get_info(profiler).reason; i++)
        nap();
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    pthread_join(passing, NULL);
    unsetenv(HELPER_FAILS);
    ok(result);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_NOBODY);
    assert_contains(zt_watch_get_info(profiler).reason, "A helper process: it did not answer. ");
    await_no_helper(getpid());
    work of = begin_hang(w, profiler, "stuck");
    let_it_look(2);
    pass_time(config.hang_ns);
    await_hang(1);
    assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_HELPER);
    assert_place("count");
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* What would make the helper load or trace something is not in its environment. */
static void the_helper_has_an_environment(void **state) {
    world *w = (world *)*state;
    static char environment[1 << 16];
    char path[64];
    int is_left_out[] = {1, 1}, has_other = 0;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    setenv("ZT_AUTO", "0", 1);
    setenv("ZT_AUTOMATIC", "1", 1);
    const char *preloaded = getenv("LD_PRELOAD");
    if (!preloaded)
        setenv("LD_PRELOAD", "", 1);
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)helper_of(getpid()));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(environment, 1, sizeof environment - 1, file);
    fclose(file);
    for (const char *one = environment; one < environment + size; one += strlen(one) + 1) {
        is_left_out[0] &= strncmp(one, "ZT_AUTO=", 8) != 0;
        is_left_out[1] &= strncmp(one, "LD_PRELOAD=", 11) != 0;
        has_other |= strcmp(one, "ZT_AUTOMATIC=1") == 0;
    }
    unsetenv("ZT_AUTO");
    unsetenv("ZT_AUTOMATIC");
    if (!preloaded)
        unsetenv("LD_PRELOAD");
    assert_true(is_left_out[0] && is_left_out[1] && has_other);
    close_profiler(w, profiler);
}

/* ==== memory ============================================================================================== */

/* Any allocation fails once while the watch begins: the reason is reported, and it can begin afterwards. */
static void memory_is_short_at_the_start(void **state) {
    world *w = (world *)*state;
    enum { MOST = OFTEN(200) };
    int refused = 0, without_command = 0, without_environment = 0;
    zt_config of_profiler = config_of(w);
    zt_watch_config config = config_of_watch();
    config.path = in_directory("hang.txt");
    of_profiler.groups = "";
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    int last = 0;
    for (uint64_t i = 1; i < MOST && !last; i++) {
        zt_profiler *profiler = open_profiler(w, &of_profiler);
        uint64_t before = heap_allocations();
        fail_heap(i, 0);
        ze_result_t result = zt_watch(profiler, &config);
        last = heap_allocations() - before < i;
        fail_heap(0, 0);
        zt_watch_info info = zt_watch_get_info(profiler);
        if (result != ZE_RESULT_SUCCESS) {
            assert_result(result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
            assert_contains(zt_get_last_error(profiler), refused++ ? "the path of the report" : "the watch");
            assert_false(info.is_watching);
        } else if (info.debugged_by == ZT_DEBUGGED_BY_NOBODY) {
            without_command += strstr(info.reason, "A helper process: out of memory") != NULL;
            without_environment +=
                strstr(info.reason, "A helper process: no process could be started") != NULL;
        }
        w->message_count = 0;
        ok(zt_watch(profiler, &config));
        assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
        assert_true(!last || result == ZE_RESULT_SUCCESS);
        close_profiler(w, profiler);
        await_no_helper(getpid());
    }
    assert_int_equal(refused, 2);
    assert_int_equal(without_command, last);
    assert_int_equal(without_environment, last);
    assert_true(last || INSTRUMENTED);
}

/* Any allocation fails once when threads are stopped: there is one report, and no thread is left stopped. */
static void memory_is_short_at_a_hang(void **state) {
    world *w = (world *)*state;
    enum { MOST = OFTEN(200) };
    zt_watch_config config = config_of_watch();
    config.hang_ns = 1000 * SECOND;
    zt_profiler *profiler = open_watched(w, &config);
    for (int i = 1, is_last = 0; i < MOST && !is_last; i++) {
        work of = begin_hang(w, profiler, "stuck");
        let_it_look(2);
        uint64_t before = heap_allocations();
        fail_heap((uint64_t)i, 0);
        pass_time(config.hang_ns);
        await_hang(i);
        is_last = heap_allocations() - before < (uint64_t)i;
        fail_heap(0, 0);
        assert_int_equal(heard_hang.hang.debugged_by, ZT_DEBUGGED_BY_ITSELF);
        assert_string_equal(heard_hang.region, "stuck");
        if (is_last)
            assert_place("count");
        assert_counts_on(&of);
        finish_hang(w, profiler, &of);
        w->message_count = 0;
    }
    close_profiler(w, profiler);
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
    gpu.behave(SOFTGPU_DEBUG_UNSUPPORTED, 1); /* a debugger would need memory, too */
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

/* For longer than zt_watch waits. Then the device is debugged as soon as the driver has answered. */
static void the_driver_attaches_slowly(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    zt_config of_profiler = config_of(w);
    pthread_t passing;
    int ended = 0;
    of_profiler.groups = "";
    config.hang_ns = 1000 * SECOND;
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    zt_profiler *profiler = open_profiler(w, &of_profiler);
    hold_call("zetDebugAttach");
    assert_int_equal(pthread_create(&passing, NULL, let_time_pass, &ended), 0);
    ze_result_t result = zt_watch(profiler, &config);
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    pthread_join(passing, NULL);
    zt_watch_info info = zt_watch_get_info(profiler);
    let_call_return();
    ok(result);
    assert_true(info.is_watching);
    assert_int_equal(info.debugged_by, ZT_DEBUGGED_BY_NOBODY);
    uint64_t end = now_ns() + A_WHILE;
    while (zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_ITSELF) {
        assert_true(now_ns() < end);
        nap();
    }
    close_profiler(w, profiler);
}

/* The end of the watch is awaited for longer while threads are being stopped, but not for ever. When it has to end,
   no program is run for source lines. */
static void the_driver_stops_threads_slowly(void **state) {
    world *w = (world *)*state;
    static const char *const names[] = {"zetDebugInterrupt", "zetDebugReadRegisters"};
    for (int i = 0; i < 2; i++) {
        zt_watch_config config = config_of_watch();
        pthread_t passing;
        int ended = 0;
        zt_profiler *profiler = open_watched(w, &config);
        hold_call(names[i]);
        work of = begin_hang(w, profiler, "stuck");
        await_held_call();
        assert_int_equal(pthread_create(&passing, NULL, let_time_pass, &ended), 0);
        uint64_t begin = now_ns();
        ze_result_t result = zt_watch_stop(profiler);
        uint64_t waited = now_ns() - begin;
        __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
        pthread_join(passing, NULL);
        int is_watching = zt_watch_get_info(profiler).is_watching, reports = heard(w, "[WATCH_HANGS]");
        let_call_return();
        assert_result(result, ZE_RESULT_NOT_READY);
        assert_true(waited >= 20 * SECOND);
        assert_true(is_watching);
        assert_int_equal(reports, i + 1);
        ok(zt_watch_stop(profiler));
        assert_int_equal(hangs_heard(), 1);
        if (i == 1) {
            assert_int_equal(heard_hang.hang.stopped, 1);
            assert_int_equal(heard_hang.hang.place_count, 1);
            assert_true(heard_hang.place.address != 0);
            assert_string_equal(heard_hang.kernel, "");
        }
        assert_counts_on(&of);
        finish_hang(w, profiler, &of);
        close_profiler(w, profiler);
    }
}

/* ==== faults ============================================================================================== */

/* A kernel reads from a page, which loses the device. */
static void fault_at(world *w, uintptr_t page, zt_debugged_by by) {
    uint64_t address = page + 8, end = now_ns() + A_WHILE;
    zt_watch_config config = config_of_watch();
    config.hang_ns = A_WHILE;
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, by == ZT_DEBUGGED_BY_HELPER);
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, by);
    work of = load_recorded(w, "read_from");
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof address, &address));
    append_kernel(profiler, of.list, of.kernel, "reads");
    ok(zeCommandListClose(of.list));
    ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
    await_hang(1);
    assert_true(heard_hang.hang.is_fault);
    assert_int_equal(heard_hang.hang.fault_address, page);
    assert_contains(heard_hang.fault, page ? "not permitted" : "nothing is mapped there");
    assert_string_equal(heard_hang.region, "reads");
    assert_place("read_from");
    assert_contains(heard_hang.text, "The device has reported a fault: page fault");
    while (zeContextGetStatus(w->context) != ZE_RESULT_ERROR_DEVICE_LOST)
        assert_true(now_ns() < end);
    assert_int_equal(zt_watch_get_info(profiler).faults, 1);
    assert_int_equal(hangs_heard(), 1);
    gpu.restore_device(); /* its engine does nothing of the profiler's any more */
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    gpu.lose_device();
    close_profiler(w, profiler);
    gpu.restore_device();
    unload_hang(w, NULL, &of);
}

static void a_page_fault_is_reported(void **state) {
    world *w = (world *)*state;
    size_t size = (size_t)getpagesize();
    void *page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fault_at(w, (uintptr_t)page, ZT_DEBUGGED_BY_ITSELF);
    assert_int_equal(heard(w, "[HANG] zt_watch: The device has reported a fault"), 1);
    fault_at(w, (uintptr_t)page, ZT_DEBUGGED_BY_HELPER);
    assert_int_equal(heard(w, "[HANG] zt_watch: The device has reported a fault"), 2);
    munmap(page, size);
    check_work(w);
}

/* The page of a null pointer is at 0, as what was never set. */
static void a_null_pointer_is_reported(void **state) {
    world *w = (world *)*state;
    fault_at(w, 0, ZT_DEBUGGED_BY_ITSELF);
    check_work(w);
}

/* As at a breakpoint: the thread stops, and there is no page fault. */
static void threads_stop_by_themselves(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    uint64_t address = 8, end = now_ns() + A_WHILE;
    config.hang_ns = A_WHILE;
    zt_profiler *profiler = open_watched(w, &config);
    gpu.behave(SOFTGPU_DEBUG_EXCEPTIONS, 1);
    work of = load_recorded(w, "read_from");
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof address, &address));
    append_kernel(profiler, of.list, of.kernel, "reads");
    ok(zeCommandListClose(of.list));
    ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
    await_hang(1);
    assert_true(heard_hang.hang.is_fault);
    assert_int_equal(heard_hang.hang.fault_address, 0);
    assert_contains(heard_hang.fault, "threads stopped by themselves");
    assert_string_equal(heard_hang.region, "reads");
    assert_place("read_from");
    while (zeContextGetStatus(w->context) != ZE_RESULT_ERROR_DEVICE_LOST)
        assert_true(now_ns() < end);
    assert_int_equal(zt_watch_get_info(profiler).faults, 1);
    close_profiler(w, profiler);
    gpu.restore_device();
    unload_hang(w, NULL, &of);
}

/* While threads are stopped because of a hang, which is reported first. When the same comes again, the watch
   has nothing to find out, and leaves the device alone. */
static void a_fault_comes_while_threads_are_stopped(void **state) {
    world *w = (world *)*state;
    uint64_t end = now_ns() + A_WHILE;
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    gpu.behave(SOFTGPU_DEBUG_FAULTS_AGAIN, 1);
    work of = begin_hang(w, profiler, "stuck");
    await_hang(2);
    assert_true(heard_hang.hang.is_fault);
    assert_int_equal(heard_hang.hang.fault_address, 0x5000);
    assert_string_equal(heard_hang.fault, "page fault");
    assert_string_equal(heard_hang.region, "stuck");
    assert_contains(heard_hang.text, "page fault (0x5000). 'stuck' was running, for");
    assert_int_equal(heard(w, "'stuck' has run for"), 1);
    let_it_look(30);
    assert_int_equal(hangs_heard(), 2); /* not by the stop for the fault itself */
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_ITSELF);
    finish_hang(w, profiler, &of);

    of = begin_hang(w, profiler, "stuck again");
    while (zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_NOBODY)
        assert_true(now_ns() < end);
    assert_contains(zt_watch_get_info(profiler).reason, "the same page fault came again");
    assert_int_equal(hangs_heard(), 3);
    assert_string_equal(heard_hang.region, "stuck again");
    assert_false(heard_hang.hang.is_fault);
    zt_watch_info info = zt_watch_get_info(profiler);
    assert_int_equal(info.hangs, 2);
    assert_int_equal(info.faults, 1);
    assert_counts_on(&of);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

/* A fault of another page is reported, unlike the same one again. */
static void another_page_faults(void **state) {
    world *w = (world *)*state;
    static const uint64_t addresses[] = {0x5000, 0x6000, 0x6000};
    zt_watch_config config = config_of_watch();
    zt_profiler *profiler = open_watched(w, &config);
    gpu.behave(SOFTGPU_DEBUG_FAULTS_AGAIN, 1);
    for (int i = 0; i < 3; i++) {
        uint64_t end = now_ns() + A_WHILE;
        __atomic_store_n(&address_of_faults, addresses[i], __ATOMIC_SEQ_CST);
        work of = begin_hang(w, profiler, "stuck");
        if (i < 2) {
            await_hang(2 * i + 2);
            assert_true(heard_hang.hang.is_fault);
            assert_int_equal(heard_hang.hang.fault_address, addresses[i]);
            assert_debugged_by(profiler, ZT_DEBUGGED_BY_ITSELF);
        }
        while (i == 2 && zt_watch_get_info(profiler).debugged_by != ZT_DEBUGGED_BY_NOBODY)
            assert_true(now_ns() < end);
        assert_counts_on(&of);
        finish_hang(w, profiler, &of);
    }
    __atomic_store_n(&address_of_faults, 0, __ATOMIC_SEQ_CST);
    assert_contains(zt_watch_get_info(profiler).reason, "the same page fault came again");
    zt_watch_info info = zt_watch_get_info(profiler);
    assert_int_equal(info.hangs, 3);
    assert_int_equal(info.faults, 2);
    close_profiler(w, profiler);
}

/* A driver may call the device lost before it delivers the fault, whose threads stay stopped until the watch
   resumes them. */
static void a_fault_is_reported_after_the_loss(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    uint64_t address = 8, end = now_ns() + A_WHILE;
    config.hang_ns = A_WHILE;
    zt_profiler *profiler = open_watched(w, &config);
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_ITSELF);
    work of = load_recorded(w, "read_from");
    ok(zeKernelSetArgumentValue(of.kernel, 1, sizeof address, &address));
    inject("zeCommandListAppendWriteGlobalTimestamp", 1, ZE_RESULT_ERROR_DEVICE_LOST);
    append_kernel(profiler, of.list, of.kernel, "not measured");
    ok(zeCommandListClose(of.list));
    ok(zt_execute(profiler, w->queue, 1, &of.list, NULL));
    await_hang(1);
    assert_true(heard_hang.hang.is_fault);
    assert_string_equal(heard_hang.region, "");
    assert_place("read_from");
    while (zeContextGetStatus(w->context) != ZE_RESULT_ERROR_DEVICE_LOST)
        assert_true(now_ns() < end);
    gpu.restore_device();
    launch(w, w->immediate);
    finish_immediate(w, w->immediate);
    close_profiler(w, profiler);
    unload_hang(w, NULL, &of);
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

/* The helper of a process, or 0: its environment at its start tells. */
static pid_t helper_of(pid_t parent) {
    char wanted[64];
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;
    snprintf(wanted, sizeof wanted, "ZETOOLS_HELPER_1=%ld", (long)parent);
    while (!found && (entry = readdir(processes))) {
        static char environment[1 << 16];
        char path[300];
        FILE *file;
        size_t size = 0;
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        file = atoi(entry->d_name) ? fopen(path, "r") : NULL;
        if (file) {
            size = fread(environment, 1, sizeof environment - 1, file);
            environment[size] = 0;
            fclose(file);
        }
        for (const char *one = environment; !found && one < environment + size; one += strlen(one) + 1)
            found = strcmp(one, wanted) == 0 ? atoi(entry->d_name) : 0;
    }
    closedir(processes);
    return found;
}

static void await_no_helper(pid_t parent) {
    uint64_t end = now_ns() + A_WHILE;
    while (helper_of(parent)) {
        assert_true(now_ns() < end);
        nap();
    }
}

static void the_helper_ends_with_the_watch(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    zt_profiler *profiler = open_watched(w, &config);
    const pid_t helper = helper_of(getpid());
    assert_true(helper > 0);
    assert_int_equal(waitpid(helper, NULL, WNOHANG), -1); /* programs may wait for all of their children */
    assert_int_equal(errno, ECHILD);
    ok(zt_watch_stop(profiler));
    await_no_helper(getpid());
    ok(zt_watch(profiler, &config));
    assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
    close_profiler(w, profiler);
    await_no_helper(getpid());
}

/* Processes that hang when they are told so. */
enum { PROCESSES = 5 };

/* H hangs, and is watched by a helper that has stopped its threads; K has a child that lives until that helper
   has ended, and keeps what it inherits; E exits, with a kernel that would end if it went on; L exits while the
   driver stops threads, and answers after the exit functions of the library. */
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
    _exit(stopped == ZE_RESULT_NOT_READY && hangs_heard() == 0 ? 0 : 1);
}

static int serve_hang(world *w, char letter, int from) {
    static work of;
    (void)from;
    if (letter == 'E') {
        let_go(&of);
        exit(0);
    }
    if (letter == 'K') {
        pid_t parent = getpid();
        uint64_t end = now_ns() + A_WHILE;
        if (fork() == 0) {
            while (helper_of(parent) && now_ns() < end)
                nap();
            _exit(0);
        }
        return 1;
    }
    if (letter == 'L') {
        zt_watch_config config = config_of_watch();
        pthread_t passing;
        assert_int_equal(atexit(expect_no_late_report), 0);
        profiler_at_exit = open_watched(w, &config);
        hold_call("zetDebugInterrupt");
        of = begin_hang(w, profiler_at_exit, "stuck");
        await_held_call();
        let_go(&of);
        assert_int_equal(pthread_create(&passing, NULL, pass_time_for_ever, NULL), 0);
        exit(0);
    }
    if (letter == 'H') {
        zt_watch_config config = config_of_watch();
        config.leave_stopped = 1;
        gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
        zt_profiler *profiler = open_watched(w, &config);
        assert_debugged_by(profiler, ZT_DEBUGGED_BY_HELPER);
        of = begin_hang(w, profiler, "stuck");
        await_hang(1);
    }
    return letter == 'H';
}

static const process *new_hanging_process(void) {
    const process *made = new_process();
    tell(made, 'H');
    assert_int_not_equal(0, helper_of(made->number));
    return made;
}

static void the_helper_ends_with_a_process_that_is_killed(void **state) {
    const process *made = new_hanging_process();
    (void)state;
    end_process(made, SIGKILL);
    await_no_helper(made->number);
}

/* Although its end of the socket stays open. */
static void a_child_of_the_process_goes_on(void **state) {
    const process *made = new_hanging_process();
    (void)state;
    tell(made, 'K');
    end_process(made, SIGKILL);
    await_no_helper(made->number);
}

static void the_process_exits_while_it_hangs(void **state) {
    const process *made = new_hanging_process();
    int status;
    (void)state;
    send_letter(made, 'E');
    assert_int_equal(waitpid(made->number, &status, 0), made->number);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    await_no_helper(made->number);
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
    for (int by_helper = 0; by_helper < 2; by_helper++) {
        zt_watch_config config = config_of_watch();
        gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, (uint32_t)by_helper);
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
        assert_place("count");
        finish_hang(w, profiler, &of);
        close_profiler(w, profiler);
    }
}

/* Then the program runs as ever. */
static void the_variable_stands_there_by_accident(void **state) {
    char name[PATH_MAX], own[32], next[32], variable[64];
    char argument[] = "--return-42";
    char *arguments[] = {name, argument, NULL}, *environment[] = {variable, NULL};
    const char *const values[] = {own, next, "", "helper", "0", "1", "-1", own};
    enum { VALUES = sizeof values / sizeof *values };
    posix_spawn_file_actions_t with_file; /* the last one has a file in the place of the socket */
    pid_t child;
    int status;
    (void)state;
    if (!getauxval(AT_BASE)) /* started by the dynamic linker */
        skip();
    assert_non_null(realpath("/proc/self/exe", name));
    snprintf(own, sizeof own, "%ld", (long)getpid());
    snprintf(next, sizeof next, "%ld", (long)getpid() + 1);
    assert_int_equal(posix_spawn_file_actions_init(&with_file), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&with_file, HELPER_DESCRIPTOR, name, O_RDONLY, 0), 0);
    for (size_t i = 0; i < VALUES; i++) {
        const posix_spawn_file_actions_t *actions = i == VALUES - 1 ? &with_file : NULL;
        snprintf(variable, sizeof variable, "ZETOOLS_HELPER_1=%s", values[i]);
        assert_int_equal(posix_spawn(&child, name, actions, NULL, arguments, environment), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 42);
    }
    posix_spawn_file_actions_destroy(&with_file);
}

enum { NOBODY = 65534, NOT_STARTED = 127 };

/* How a helper is started. */
enum {
    OWN_SOCKET = 1,     /* it has made its socket, and not this process */
    OTHER_PARENT = 2,   /* as if its parent had ended: it is the child of another process */
    WITH_PRIVILEGES = 4 /* by its file, as by setcap */
};

/* Starts this program as a helper, as another user if that is not 0, with an end of a socket; a call fails in it.
   Returns its exit status, and how many bytes it has sent. */
static int start_as(uid_t user, int how, const char *failing, ssize_t *sent) {
    char variable[64], fault[64], data[PATH_MAX] = "A=", argument[] = "--return-42",
                                  privileges[32] = "B=", message[64];
    char *arguments[] = {argument, argument, NULL},
         *environment[] = {variable, fault, data, privileges, NULL};
    int ends[2], status, program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    snprintf(variable, sizeof variable, "ZETOOLS_HELPER_1=%ld", (long)getpid());
    snprintf(fault, sizeof fault, HELPER_FAILS "=%s", failing);
    if (getenv("GCOV_PREFIX")) /* where it writes what it has run */
        snprintf(data, sizeof data, "GCOV_PREFIX=%s", getenv("GCOV_PREFIX"));
    if (how & WITH_PRIVILEGES)
        strcpy(privileges, "ZT_TEST_HAS_PRIVILEGES=1");
    pid_t child = fork();
    if (child == 0) {
        pid_t next = how & OTHER_PARENT ? fork() : 0;
        if (next != 0)
            _exit(waitpid(next, &status, 0) == next && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED);
        if (how & OWN_SOCKET && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
            _exit(NOT_STARTED);
        if ((!user || setuid(user) == 0) && dup2(ends[1], HELPER_DESCRIPTOR) == HELPER_DESCRIPTOR)
            fexecve(program, arguments, environment);
        _exit(NOT_STARTED);
    }
    close(ends[1]);
    close(program);
    assert_int_equal(waitpid(child, &status, 0), child);
    *sent = recv(ends[0], message, sizeof message, MSG_TRUNC); /* 0: the other end is closed */
    close(ends[0]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_helper_serves_its_own_user_alone(void **state) {
    ssize_t sent;
    (void)state;
    if (getuid() != 0) {
        puts("skipped: another user's helper is started by root alone");
        skip();
    }
    if (!getauxval(AT_BASE)) /* started by the dynamic linker */
        skip();
    assert_int_equal(start_as(0, 0, "", &sent), 0);
    assert_true(sent > 0);
    assert_int_equal(start_as(0, OWN_SOCKET, "", &sent), 42); /* then it is none */
    assert_int_equal(sent, 0);
    int status = start_as(NOBODY, 0, "", &sent);
    if (status == NOT_STARTED) {
        puts("skipped: the other user may not start this program");
        skip();
    }
    assert_int_equal(status, 0);
    assert_int_equal(sent, 0);
}

/* If the program has ended before main of its helper is reached, or if its file has got privileges, nobody is
   served. Main is not called either. */
static void a_helper_that_may_not_serve_ends(void **state) {
    ssize_t sent;
    (void)state;
    if (!getauxval(AT_BASE)) /* started by the dynamic linker */
        skip();
    assert_int_equal(start_as(0, OTHER_PARENT, "", &sent), 0);
    assert_int_equal(sent, 0);
    assert_int_equal(start_as(0, WITH_PRIVILEGES, "", &sent), 0);
    assert_int_equal(sent, 0);
    assert_int_equal(start_as(0, OTHER_PARENT | OWN_SOCKET, "", &sent), 42);
    assert_int_equal(start_as(0, WITH_PRIVILEGES | OWN_SOCKET, "", &sent), 42);
}

/* It does without the list of what is open. What it cannot do without ends it: main is not called, unless the
   socket is not the program's. */
static void any_call_fails_in_a_helper(void **state) {
    static const struct {
        const char *call;
        int status, answers;
    } cases[] = {{"opendir", 0, 1}, {"getsockopt", 0, 0}, {"calloc", 0, 0}, {"size of getsockopt", 42, 0}};
    (void)state;
    if (!getauxval(AT_BASE)) /* started by the dynamic linker */
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ssize_t sent;
        assert_int_equal(start_as(0, 0, cases[i].call, &sent), cases[i].status);
        assert_int_equal(sent > 0, cases[i].answers);
    }
}

/* The library is started as a program, so that main is not called again. */
static void a_shared_library_has_a_helper(void **state) {
    world *w = (world *)*state;
    void (*watch)(ze_context_handle_t, ze_device_handle_t, zt_watch_info *);
    char path[PATH_MAX];
    zt_watch_info info;
    if (INSTRUMENTED) /* a shell cannot load a device with sanitizers */
        skip();
    find_file("build/tests/plugins/watching.so", path, sizeof path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)&watch = dlsym(library, "watch_from_library");
    assert_non_null(watch);
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    gpu.behave(SOFTGPU_DEBUG_NOT_ITSELF, 1);
    watch(w->context, w->device, &info);
    if (info.debugged_by != ZT_DEBUGGED_BY_HELPER)
        fail_msg("%s", info.reason);
    await_no_helper(getpid());
    dlclose(library);
}

/* On a device without sanitizers. */
static void the_example_finds_its_line(void **state) {
    char program[PATH_MAX], device[PATH_MAX], command[4 * PATH_MAX];
    static char text[1 << 15];
    (void)state;
    find_file("build/examples-O0/hang", program, sizeof program);
    find_file("build/libze_softgpu.so", device, sizeof device);
    snprintf(command, sizeof command,
             "cd '%s' && exec env ZE_ENABLE_ALT_DRIVERS='%s' ZET_ENABLE_METRICS=1 '%s' >output 2>&1",
             test_directory, device, program);
    int status = system(command);
    read_file(in_directory("output"), text, sizeof text);
    if (status != 0)
        fail_msg("status 0x%x:\n%s", (unsigned)status, text);
    assert_contains(text, "'wait for the flag' has run for 0.");
    assert_contains(text, "spin.cl:6");
    assert_contains(text, "results: right");
    read_file(in_directory("run.hang.txt"), text, sizeof text);
    assert_contains(text, "spin.cl:6");
}

/* ==== rules =============================================================================================== */

static void inert_and_refused(void **state) {
    world *w = (world *)*state;
    zt_watch_config config = config_of_watch();
    ok(zt_watch(NULL, &config));
    ok(zt_watch_stop(NULL));
    assert_false(zt_watch_get_info(NULL).is_watching);
    zt_profiler *profiler = open_profiler(w, NULL);
    ok(zt_watch_stop(profiler));
    assert_false(zt_watch_get_info(profiler).is_watching);
    assert_int_equal(zt_watch_config_default().hang_ns, UINT64_C(10000000000));
    assert_string_equal(zt_watch_config_default().path, "hang.%p.txt");
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
    assert_contains(zt_get_last_error(unpacked), "the device of the profiler");
    assert_false(zt_watch_get_info(unpacked).is_watching);
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
    int is_close_refused = strstr(zt_get_last_error(profiler), "[WATCH_HANGS]") != NULL;
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    pthread_join(passing, NULL);
    assert_true(zt_watch_get_info(profiler).is_watching);
    __atomic_store_n(&may_return, 1, __ATOMIC_SEQ_CST);
    assert_result(stopped, ZE_RESULT_NOT_READY);
    assert_result(replaced, ZE_RESULT_NOT_READY);
    assert_true(heard(w, "[WATCH_HANGS]") > 0);
    assert_true(is_close_refused);
    ok(zt_watch_stop(profiler));
    assert_false(zt_watch_get_info(profiler).is_watching);
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
    assert_true(zt_watch_get_info(profiler_of_callback).hangs == 1);
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
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
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
    assert_false(zt_watch_get_info(profiler).is_watching);
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
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    zt_profiler *profiler = profiler_of_callback = open_profiler(w, &of_profiler);
    ok(zt_watch(profiler, &config));
    work of = begin_hang(w, profiler, "stuck");
    await(&calls_inside);
    assert_result(results_of_log[0], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_result(results_of_log[1], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    await_hang(1);
    assert_true(zt_watch_get_info(profiler).is_watching);
    finish_hang(w, profiler, &of);
    close_profiler(w, profiler);
}

int main(int argc, char **argv) {
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
        HANG_TEST(a_hang_ends_by_itself),
        HANG_TEST(two_kernels_hang),
        HANG_TEST(threads_at_many_places),
        HANG_TEST(a_hang_behind_many_regions),
        HANG_TEST(the_first_list_hangs),
        HANG_TEST(the_list_that_goes_on_does_not_hang),
        HANG_TEST(nobody_is_called),
        HANG_TEST(the_shortest_hang),
        HANG_TEST(threads_are_left_stopped),
        cmocka_unit_test_setup_teardown(the_profiler_is_closed_while_it_hangs, open_leaky_world,
                                        abandon_world),
        HANG_TEST(a_helper_debugs),
        HANG_TEST(no_helper_is_wanted),
        HANG_TEST(the_device_cannot_be_debugged),
        HANG_TEST(debugging_is_not_enabled),
        HANG_TEST(nobody_may_debug),
        HANG_TEST(another_debugger_is_attached),
        HANG_TEST(the_debugger_is_detached),
        HANG_TEST(no_thread_can_be_stopped),
        HANG_TEST(any_call_fails_once),
        HANG_TEST(the_helper_finds_the_device),
        HANG_TEST(the_helper_does_not_trust_counts),
        HANG_TEST(the_helper_is_lost),
        HANG_TEST(the_helper_writes_rubbish),
        HANG_TEST(any_call_of_the_helper_fails),
        HANG_TEST(no_helper_of_a_helper),
        HANG_TEST(no_helper_with_extra_rights),
        HANG_TEST(the_watch_is_stopped_while_the_helper_answers),
        HANG_TEST(the_watch_is_stopped_while_no_thread_stops),
        HANG_TEST(the_watch_is_stopped_while_it_attaches),
        HANG_TEST(no_helper_can_be_started),
        HANG_TEST(the_mappings_are_not_known),
        HANG_TEST(no_message_reaches_the_helper),
        HANG_TEST(the_helper_does_not_answer),
        HANG_TEST(the_helper_has_an_environment),
        HANG_TEST(memory_is_short_at_the_start),
        HANG_TEST(memory_is_short_at_a_hang),
        HANG_TEST(memory_is_short_for_lists),
        HANG_TEST(lists_are_released_meanwhile),
        HANG_TEST(the_driver_attaches_slowly),
        HANG_TEST(the_driver_stops_threads_slowly),
        cmocka_unit_test_setup_teardown(a_page_fault_is_reported, open_leaky_world, abandon_world),
        cmocka_unit_test_setup_teardown(a_null_pointer_is_reported, open_leaky_world, abandon_world),
        cmocka_unit_test_setup_teardown(threads_stop_by_themselves, open_leaky_world, abandon_world),
        HANG_TEST(a_fault_comes_while_threads_are_stopped),
        HANG_TEST(another_page_faults),
        cmocka_unit_test_setup_teardown(a_fault_is_reported_after_the_loss, open_leaky_world, abandon_world),
        HANG_TEST(the_report_is_a_file),
        HANG_TEST(a_report_that_cannot_be_written),
        HANG_TEST(the_helper_ends_with_the_watch),
        HANG_TEST(the_helper_ends_with_a_process_that_is_killed),
        HANG_TEST(a_child_of_the_process_goes_on),
        HANG_TEST(the_process_exits_while_it_hangs),
        HANG_TEST(nobody_is_called_after_the_exit),
        HANG_TEST(a_child_is_forked),
        HANG_TEST(the_variable_stands_there_by_accident),
        HANG_TEST(a_helper_serves_its_own_user_alone),
        HANG_TEST(a_helper_that_may_not_serve_ends),
        HANG_TEST(any_call_fails_in_a_helper),
        HANG_TEST(a_shared_library_has_a_helper),
        HANG_TEST(the_example_finds_its_line),
        HANG_TEST(inert_and_refused),
        HANG_TEST(an_unpacked_profiler_is_not_watched),
        HANG_TEST(the_function_must_not_end_the_watch),
        HANG_TEST(the_sample_function_must_not_watch),
        HANG_TEST(the_log_must_not_end_the_watch),
        HANG_TEST(the_function_does_not_return_in_time),
    };
    if (argc > 1 && strcmp(argv[1], "--return-42") == 0)
        return 42;
    has_begun = 1;
    thread_of_tests = pthread_self();
    setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1); /* older loaders want it */
    fork_processes(PROCESSES, serve_hang);
    make_directory(NULL);
    int failed = cmocka_run_group_tests_name("watch", tests, start, NULL);
    remove_directory(NULL);
    return failed;
}
