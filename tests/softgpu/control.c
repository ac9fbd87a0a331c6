/* How tests make the device behave: behaviours, faults, call costs and counts, the clock, the loss of the
 * device. */
#include "debug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NANOSECONDS = 1000000000 };

/* ---- calls --------------------------------------------------------------------------------------------- */

typedef struct call {
    _Atomic uint32_t fail_in; /* calls until the fault; 0: none */
    _Atomic uint32_t fail_result;
    _Atomic uint32_t cost_ns;
} call;

static call calls[SG_FUNCTION_COUNT];

/* A fault of any function: see softgpu_fail_any(). */
static struct {
    _Atomic uint64_t fail_in;       /* calls until the fault; 0: none */
    _Atomic(const char *) function; /* whose calls count; NULL: any */
    _Atomic uint32_t result;
    _Atomic bool for_ever;
    _Atomic bool failing; /* for ever, and the first call has failed */
    _Atomic bool paused;
    _Atomic(const char *) failed; /* the function that failed first, or NULL */
} any;

/* How often each was called. Threads count apart, so that they do not wait for each other's cache lines. */
enum { STRIPES = 8 };
static struct stripe { _Alignas(SG_CACHE_LINE) _Atomic uint64_t counts[SG_FUNCTION_COUNT]; } stripes[STRIPES];

static struct stripe *own_stripe(void) {
    static _Atomic uint32_t threads;
    static _Thread_local struct stripe *own;
    if (!own)
        own = &stripes[atomic_fetch_add(&threads, 1) % STRIPES];
    return own;
}

static const char *const call_names[SG_FUNCTION_COUNT] = {
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments) #name,
#include "functions.def"
#undef SG_FUNCTION
};

/* Whether any call needs more than counting, so that the others are fast. */
static _Atomic bool attention;
static _Atomic bool lost;

bool sg_is_lost(void) {
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

static void update_attention(void) {
    bool needed = sg_is_lost() || atomic_load(&any.fail_in) || atomic_load(&any.failing);
    for (unsigned i = 0; i < SG_FUNCTION_COUNT && !needed; ++i)
        needed = atomic_load(&calls[i].fail_in) || atomic_load(&calls[i].cost_ns);
    atomic_store(&attention, needed);
}

void sg_spend(uint64_t nanoseconds) {
    if (nanoseconds)
        for (uint64_t end = sg_now() + nanoseconds; sg_now() < end;) {
        }
}

static bool destroys(const char *function) {
    return strstr(function, "Destroy") || strncmp(function, "zeMemFree", 9) == 0 ||
           strcmp(function, "zetMetricStreamerClose") == 0;
}

static ze_result_t fail_any(const char *function) {
    bool spared = atomic_load(&any.for_ever) && destroys(function);
    if (atomic_load(&any.paused) || spared)
        return ZE_RESULT_SUCCESS;
    const char *counted = atomic_load(&any.function);
    uint64_t fail_in = counted && counted != function ? 0 : atomic_load(&any.fail_in);
    while (fail_in && !atomic_compare_exchange_weak(&any.fail_in, &fail_in, fail_in - 1)) {
    }
    if (fail_in == 1) {
        const uint32_t exits = atomic_load(&any.result) - SOFTGPU_EXITS;
        atomic_store(&any.failed, function);
        if (exits <= 255)
            exit((int)exits);
        if (atomic_load(&any.for_ever) && atomic_load(&any.result) == ZE_RESULT_ERROR_DEVICE_LOST)
            softgpu_lose_device();
        else
            atomic_store(&any.failing, atomic_load(&any.for_ever));
    }
    return fail_in == 1 || atomic_load(&any.failing) ? (ze_result_t)atomic_load(&any.result)
                                                     : ZE_RESULT_SUCCESS;
}

static ze_result_t attend(sg_function function, sg_kind kind) {
    call *to = &calls[function];
    sg_spend(atomic_load_explicit(&to->cost_ns, memory_order_relaxed));
    uint32_t fail_in = atomic_load(&to->fail_in);
    while (fail_in && !atomic_compare_exchange_weak(&to->fail_in, &fail_in, fail_in - 1)) {
    }
    if (fail_in == 1)
        return (ze_result_t)atomic_load(&to->fail_result);
    ze_result_t result = fail_any(call_names[function]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return sg_is_lost() && kind == SG_KIND_DEVICE ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t sg_enter(sg_function function, sg_kind kind) {
    atomic_fetch_add_explicit(&own_stripe()->counts[function], 1, memory_order_relaxed);
    return atomic_load_explicit(&attention, memory_order_relaxed) ? attend(function, kind)
                                                                  : ZE_RESULT_SUCCESS;
}

static call *call_named(const char *name) {
    for (unsigned i = 0; i < SG_FUNCTION_COUNT; ++i)
        if (strcmp(call_names[i], name) == 0)
            return &calls[i];
    return NULL;
}

int softgpu_fail(const char *function, uint32_t nth_call, uint32_t result) {
    call *to = call_named(function);
    if (!to)
        return 0;
    atomic_store(&to->fail_result, result);
    atomic_store(&to->fail_in, nth_call);
    update_attention();
    return 1;
}

int softgpu_fail_any(const char *function, uint64_t nth_call, uint32_t result, int for_ever) {
    call *to = function ? call_named(function) : NULL;
    if (function && !to)
        return 0;
    atomic_store(&any.function, to ? call_names[to - calls] : NULL);
    atomic_store(&any.failing, false);
    atomic_store(&any.paused, false);
    atomic_store(&any.failed, NULL);
    atomic_store(&any.result, result);
    atomic_store(&any.for_ever, for_ever != 0);
    atomic_store(&any.fail_in, nth_call);
    update_attention();
    return 1;
}

void softgpu_pause_faults(int paused) {
    atomic_store(&any.paused, paused != 0);
}

const char *softgpu_failed_call(void) {
    return atomic_load(&any.failed);
}

int softgpu_set_call_cost(const char *function, uint32_t nanoseconds) {
    call *to = call_named(function);
    if (!to)
        return 0;
    atomic_store(&to->cost_ns, nanoseconds);
    update_attention();
    return 1;
}

static uint64_t count_of(unsigned function) {
    uint64_t count = 0;
    for (unsigned i = 0; i < STRIPES; ++i)
        count += atomic_load_explicit(&stripes[i].counts[function], memory_order_relaxed);
    return count;
}

static _Atomic uint32_t report_cost;

uint32_t sg_report_cost(void) {
    return atomic_load_explicit(&report_cost, memory_order_relaxed);
}

static _Atomic bool real_costs;

bool sg_costs_are_real(void) {
    return atomic_load_explicit(&real_costs, memory_order_relaxed);
}

/* So much that the library costs, in proportion to these calls, what it costs beside those of Intel's driver. Some cost
 * more here than there, because what follows a wait for the clock does not overlap with it. */
void softgpu_set_real_costs(int on) {
    static const struct {
        sg_function function;
        uint32_t nanoseconds;
    } costs[] = {
        {SG_CALL_zetCommandListAppendMetricQueryBegin, 160},
        {SG_CALL_zetCommandListAppendMetricQueryEnd, 225},
        {SG_CALL_zetMetricQueryGetData, 225},
        {SG_CALL_zetMetricGroupCalculateMetricValues, 4550},
        {SG_CALL_zetMetricGroupCalculateMultipleMetricValuesExp, 4550},
        {SG_CALL_zeEventQueryStatus, 45},
        {SG_CALL_zeCommandListAppendLaunchKernel, 300},
        {SG_CALL_zeCommandQueueExecuteCommandLists, 22000},
        {SG_CALL_zeCommandListImmediateAppendCommandListsExp, 22000},
        {SG_CALL_zeCommandListReset, 1100},
    };
    for (size_t i = 0; i < sizeof costs / sizeof *costs; ++i)
        atomic_store(&calls[costs[i].function].cost_ns, on ? costs[i].nanoseconds : 0);
    atomic_store(&report_cost, on ? 2400 : 0);
    atomic_store(&real_costs, on != 0);
    update_attention();
}

uint64_t softgpu_calls(const char *function) {
    uint64_t count = 0;
    for (unsigned i = 0; i < SG_FUNCTION_COUNT; ++i)
        if (!function || strcmp(call_names[i], function) == 0)
            count += count_of(i);
    return count;
}

void softgpu_reset_calls(void) {
    for (unsigned i = 0; i < SG_FUNCTION_COUNT; ++i)
        for (unsigned stripe = 0; stripe < STRIPES; ++stripe)
            atomic_store(&stripes[stripe].counts[i], 0);
}

/* ---- behaviours ---------------------------------------------------------------------------------------- */

typedef struct behaviour {
    _Atomic uint32_t every;
    _Atomic uint32_t occasions;
} behaviour;

static behaviour behaviours[SOFTGPU_BEHAVIOUR_COUNT];

bool sg_behaviour_is_on(enum softgpu_behaviour which) {
    return atomic_load_explicit(&behaviours[which].every, memory_order_relaxed) != 0;
}

bool sg_behaves(enum softgpu_behaviour which) {
    uint32_t every = atomic_load_explicit(&behaviours[which].every, memory_order_relaxed);
    return every && (atomic_fetch_add(&behaviours[which].occasions, 1) + 1) % every == 0;
}

void softgpu_behave(enum softgpu_behaviour which, uint32_t every) {
    if ((unsigned)which >= SOFTGPU_BEHAVIOUR_COUNT)
        return;
    if (which == SOFTGPU_METRICS_NOT_ENABLED)
        sg_metrics_forget_switches();
    atomic_store(&behaviours[which].occasions, 0);
    atomic_store(&behaviours[which].every, every);
}

/* ---- devices, and their loss --------------------------------------------------------------------------- */

static _Atomic uint32_t device_count = 1;
static _Atomic uint32_t sub_device_count;

uint32_t sg_device_count(void) {
    return atomic_load(&device_count);
}
uint32_t sg_sub_device_count(void) {
    return atomic_load(&sub_device_count);
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

void softgpu_set_devices(uint32_t devices, uint32_t sub_devices) {
    atomic_store(&device_count, within(devices, 1, SG_MAX_DEVICES));
    atomic_store(&sub_device_count, sub_devices < 2 ? 0 : within(sub_devices, 2, SG_MAX_SUB_DEVICES));
}

static _Atomic uint32_t given_shape[4];
static _Atomic bool has_given_shape;

void softgpu_set_shape(const uint32_t shape[4]) {
    for (unsigned i = 0; i < 4; ++i)
        atomic_store(&given_shape[i], shape ? shape[i] : 0);
    atomic_store(&has_given_shape, shape != NULL);
}

bool sg_given_shape(uint32_t shape[4]) {
    for (unsigned i = 0; i < 4; ++i)
        shape[i] = atomic_load(&given_shape[i]);
    return atomic_load(&has_given_shape);
}

void sg_note_loss(void) {
    atomic_store(&lost, true);
    update_attention();
    sg_debug_device_lost();
    sg_progress();
}

void softgpu_lose_device(void) {
    sg_note_loss();
    sg_drop_all_work();
    sg_progress();
}

void softgpu_restore_device(void) {
    if (sg_is_lost())
        sg_drop_all_work();
    atomic_store(&lost, false);
    update_attention();
}

int softgpu_device_is_lost(void) {
    return sg_is_lost();
}

int softgpu_is_stopped(void) {
    for (uint32_t i = 0; i < SG_MAX_DEVICES; ++i)
        for (uint32_t k = 0; k < SG_ENGINES; ++k)
            if (atomic_load(&sg_root_at(i)->engines[k].stop.state) == SG_STOPPED)
                return 1;
    return 0;
}

/* ---- the clock ----------------------------------------------------------------------------------------- */

static _Atomic uint32_t timestamp_bits = 64;
static _Atomic uint64_t ticks_per_second = NANOSECONDS;
static _Atomic uint64_t tick_offset;
static _Atomic uint64_t time_passed; /* nanoseconds, beside those that really do */

uint64_t sg_read_clock(clockid_t clock) {
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

uint64_t sg_now(void) {
    return sg_read_clock(CLOCK_MONOTONIC);
}

/* Not wrapped. */
static uint64_t ticks_in(uint64_t nanoseconds) {
    uint64_t rate = atomic_load_explicit(&ticks_per_second, memory_order_relaxed);
    nanoseconds += atomic_load_explicit(&time_passed, memory_order_relaxed);
    uint64_t ticks = nanoseconds / NANOSECONDS * rate + nanoseconds % NANOSECONDS * rate / NANOSECONDS;
    return sg_behaviour_is_on(SOFTGPU_CLOCK_DRIFTS) ? ticks + ticks / 100 : ticks;
}

static uint64_t valid_part(uint64_t ticks, uint32_t bits) {
    return bits < 64 ? ticks & (((uint64_t)1 << bits) - 1) : ticks;
}

uint64_t sg_ticks_at(uint64_t nanoseconds) {
    uint64_t ticks = ticks_in(nanoseconds) + atomic_load_explicit(&tick_offset, memory_order_relaxed);
    return valid_part(ticks, sg_timestamp_bits());
}

uint32_t sg_timestamp_bits(void) {
    return atomic_load_explicit(&timestamp_bits, memory_order_relaxed);
}

uint64_t sg_ticks_per_second(void) {
    return atomic_load_explicit(&ticks_per_second, memory_order_relaxed);
}

void softgpu_set_timestamps(uint32_t valid_bits, uint64_t rate) {
    atomic_store(&timestamp_bits, within(valid_bits, 1, 64));
    atomic_store(&ticks_per_second, rate && rate <= NANOSECONDS ? rate : NANOSECONDS);
}

void softgpu_set_clock(uint64_t ticks_now) {
    atomic_store(&tick_offset, ticks_now - ticks_in(sg_now()));
}

void softgpu_pass_time(uint64_t nanoseconds) {
    atomic_fetch_add(&time_passed, nanoseconds);
}

static _Atomic uint64_t time_held; /* without what has passed by softgpu_pass_time. 0: it is not held */

void softgpu_hold_time(int held) {
    atomic_store(&time_held, held ? sg_now() - atomic_load(&time_passed) : 0);
}

uint64_t sg_shown_now(void) {
    uint64_t held = atomic_load(&time_held);
    return held ? held + atomic_load(&time_passed) : sg_now();
}

/* A clock apart from the device's. */
typedef struct own_clock {
    _Atomic uint32_t bits; /* 0: it is the device's */
    _Atomic uint64_t offset;
} own_clock;

static own_clock metric_clock, kernel_clock;

static uint32_t bits_of(const own_clock *of) {
    uint32_t bits = atomic_load_explicit(&of->bits, memory_order_relaxed);
    return bits ? bits : sg_timestamp_bits();
}

static uint64_t offset_of(const own_clock *of) {
    const _Atomic uint64_t *offset =
        atomic_load_explicit(&of->bits, memory_order_relaxed) ? &of->offset : &tick_offset;
    return atomic_load_explicit(offset, memory_order_relaxed);
}

static uint64_t read_clock(const own_clock *of, uint64_t nanoseconds) {
    return valid_part(ticks_in(nanoseconds) + offset_of(of), bits_of(of));
}

static void set_clock(own_clock *to, uint32_t valid_bits, uint64_t ticks_now) {
    atomic_store(&to->offset, ticks_now - ticks_in(sg_now()));
    atomic_store(&to->bits, valid_bits < 64 ? valid_bits : 64);
}

uint32_t sg_metric_timestamp_bits(void) {
    return bits_of(&metric_clock);
}
uint64_t sg_metric_ticks_at(uint64_t nanoseconds) {
    return read_clock(&metric_clock, nanoseconds);
}
void softgpu_set_metric_clock(uint32_t valid_bits, uint64_t ticks_now) {
    set_clock(&metric_clock, valid_bits, ticks_now);
}

uint32_t sg_kernel_timestamp_bits(void) {
    return bits_of(&kernel_clock);
}
uint64_t sg_kernel_ticks_at(uint64_t nanoseconds) {
    return read_clock(&kernel_clock, nanoseconds);
}
void softgpu_set_kernel_clock(uint32_t valid_bits, uint64_t ticks_now) {
    set_clock(&kernel_clock, valid_bits, ticks_now);
}

static struct { _Atomic uint64_t commands, ticks, turns; } stamped;

void sg_account_stamps(const sg_interval *times) {
    uint64_t offset = offset_of(&kernel_clock);
    uint64_t begin = ticks_in(times->start) + offset, end = ticks_in(times->end) + offset;
    uint32_t bits = bits_of(&kernel_clock);
    atomic_fetch_add_explicit(&stamped.commands, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&stamped.ticks, end - begin, memory_order_relaxed);
    if (bits < 64 && begin >> bits != end >> bits)
        atomic_fetch_add_explicit(&stamped.turns, 1, memory_order_relaxed);
}

softgpu_stamped softgpu_get_stamped(void) {
    softgpu_stamped now = {atomic_load(&stamped.commands), atomic_load(&stamped.ticks),
                           atomic_load(&stamped.turns)};
    return now;
}

/* ---- waiting on the host ------------------------------------------------------------------------------- */

static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress;
static pthread_once_t progress_once = PTHREAD_ONCE_INIT;
static _Atomic uint32_t waiting;

void sg_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void progress_init(void) {
    sg_condition_init(&progress);
}

/* The state that changed was stored before, sequentially consistent; a waiter that this misses sees that
 * state. */
void sg_progress(void) {
    if (!atomic_load(&waiting))
        return;
    pthread_mutex_lock(&progress_lock);
    pthread_cond_broadcast(&progress);
    pthread_mutex_unlock(&progress_lock);
}

static ze_result_t ask(bool (*done)(void *argument), void *argument) {
    if (done(argument))
        return ZE_RESULT_SUCCESS;
    return sg_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
}

/* Returns false when the time is up. */
static bool wait_for_progress(uint64_t deadline) {
    if (deadline == UINT64_MAX)
        return pthread_cond_wait(&progress, &progress_lock) == 0;
    struct timespec at = {(time_t)(deadline / NANOSECONDS), (long)(deadline % NANOSECONDS)};
    return pthread_cond_timedwait(&progress, &progress_lock, &at) != ETIMEDOUT;
}

ze_result_t sg_wait(bool (*done)(void *argument), void *argument, uint64_t timeout) {
    ze_result_t result = ask(done, argument);
    if (result != ZE_RESULT_NOT_READY || timeout == 0)
        return result;
    uint64_t now = sg_now();
    uint64_t deadline = timeout > (uint64_t)INT64_MAX - now ? UINT64_MAX : now + timeout;
    pthread_once(&progress_once, progress_init);
    pthread_mutex_lock(&progress_lock);
    atomic_fetch_add(&waiting, 1);
    bool time_left = true;
    while ((result = ask(done, argument)) == ZE_RESULT_NOT_READY && time_left)
        time_left = wait_for_progress(deadline);
    atomic_fetch_sub(&waiting, 1);
    pthread_mutex_unlock(&progress_lock);
    return result;
}

/* ---- defaults, and the environment --------------------------------------------------------------------- */

static _Atomic bool metrics_are_asked_for; /* by ZET_ENABLE_METRICS */
static _Atomic bool debug_is_asked_for;    /* by ZET_ENABLE_PROGRAM_DEBUGGING */
static _Atomic bool sysman_is_asked_for;   /* by ZES_ENABLE_SYSMAN */

static void set_default_behaviours(void) {
    for (unsigned i = 0; i < SOFTGPU_BEHAVIOUR_COUNT; ++i)
        softgpu_behave((enum softgpu_behaviour)i, 0);
    softgpu_behave(SOFTGPU_METRICS_NOT_ENABLED, !atomic_load(&metrics_are_asked_for));
    softgpu_behave(SOFTGPU_DEBUG_NOT_ENABLED, !atomic_load(&debug_is_asked_for));
    softgpu_behave(SOFTGPU_SYSMAN_OF_CORE, atomic_load(&sysman_is_asked_for));
}

void softgpu_reset(void) {
    for (unsigned i = 0; i < SG_FUNCTION_COUNT; ++i) {
        atomic_store(&calls[i].fail_in, 0);
        atomic_store(&calls[i].cost_ns, 0);
    }
    softgpu_fail_any(NULL, 0, 0, 0);
    set_default_behaviours();
    softgpu_set_real_costs(0);
    softgpu_reset_calls();
    softgpu_set_timestamps(64, NANOSECONDS);
    atomic_store(&tick_offset, 0);
    atomic_store(&time_passed, 0);
    softgpu_hold_time(0);
    softgpu_set_metric_clock(0, 0);
    softgpu_set_kernel_clock(0, 0);
    softgpu_set_devices(1, 0);
    softgpu_set_shape(NULL);
    softgpu_set_native_binary(NULL, 0);
    softgpu_list_registers(NULL, 0);
    softgpu_set_power(NULL);
    sg_metrics_forget_given();
    softgpu_restore_device();
}

static uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void behave_as(const char *text, size_t length) {
    static const char *const names[] = {
#define SG_NAME(name) #name,
        SOFTGPU_BEHAVIOURS(SG_NAME)
#undef SG_NAME
    };
    size_t name_length = strcspn(text, "=,");
    for (unsigned i = 0; i < SOFTGPU_BEHAVIOUR_COUNT; ++i)
        if (strlen(names[i]) == name_length && strncmp(names[i], text, name_length) == 0)
            softgpu_behave((enum softgpu_behaviour)i,
                           name_length < length ? (uint32_t)strtoul(text + name_length + 1, NULL, 0) : 1);
}

/* NUMBER:RESULT, and :ever if all calls from that one on fail. */
static void fail_as(const char *text) {
    char *rest = NULL;
    uint64_t number = text ? strtoull(text, &rest, 0) : 0;
    if (number && *rest == ':') {
        uint32_t result = (uint32_t)strtoul(rest + 1, &rest, 0);
        softgpu_fail_any(NULL, number, result, strcmp(rest, ":ever") == 0);
    }
}

static const char *calls_path;

static void write_calls(void) {
    FILE *file = fopen(calls_path, "w");
    if (file) {
        fprintf(file, "%llu\n", (unsigned long long)softgpu_calls(NULL));
        fclose(file);
    }
}

static ze_result_t init_result = ZE_RESULT_SUCCESS;

static void read_environment(void) {
    atomic_store(&metrics_are_asked_for, number_from("ZET_ENABLE_METRICS", 0) == 1);
    atomic_store(&debug_is_asked_for, number_from("ZET_ENABLE_PROGRAM_DEBUGGING", 0) == 1);
    atomic_store(&sysman_is_asked_for, number_from("ZES_ENABLE_SYSMAN", 0) == 1);
    set_default_behaviours();
    softgpu_set_devices((uint32_t)number_from("SOFTGPU_DEVICES", 1),
                        (uint32_t)number_from("SOFTGPU_SUB_DEVICES", 0));
    softgpu_set_timestamps((uint32_t)number_from("SOFTGPU_TIMESTAMP_BITS", 64),
                           number_from("SOFTGPU_TICKS_PER_SECOND", NANOSECONDS));
    init_result = (ze_result_t)number_from("SOFTGPU_INIT_RESULT", ZE_RESULT_SUCCESS);
    const char *names = getenv("SOFTGPU_BEHAVE");
    while (names && *names) {
        size_t length = strcspn(names, ",");
        behave_as(names, length);
        names += length + (names[length] == ',');
    }
    if (sg_behaviour_is_on(SOFTGPU_DEBUG_UNSUPPORTED) && atomic_load(&debug_is_asked_for))
        init_result = ZE_RESULT_ERROR_UNINITIALIZED;
    fail_as(getenv("SOFTGPU_FAIL"));
    calls_path = getenv("SOFTGPU_CALLS");
    if (calls_path)
        atexit(write_calls);
}

ze_result_t sg_control_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return init_result;
}
