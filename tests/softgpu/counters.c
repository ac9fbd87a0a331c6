/* What devices count. The engine threads write; any thread reads. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "work.h"

#include <sched.h>
#include <sys/resource.h>

/* One engine alone needs no atomic addition. */
static void add(sg_device *device, sg_counter counter, uint64_t amount) {
    if (atomic_load_explicit(&device->root->is_concurrent, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&device->counters[counter], amount, memory_order_relaxed);
        return;
    }
    uint64_t value = atomic_load_explicit(&device->counters[counter], memory_order_relaxed);
    atomic_store_explicit(&device->counters[counter], value + amount, memory_order_relaxed);
}

void sg_count(sg_device *device, sg_counter counter, uint64_t amount) {
    if (!amount)
        return;
    add(device, counter, amount);
    if (device->parent)
        add(device->parent, counter, amount);
}

sg_device *sg_tile_for(sg_device *device, uint64_t n) {
    uint32_t tiles = device->parent ? 0 : sg_sub_device_count();
    return tiles ? device->root->sub_devices[n % tiles] : device;
}

/* ---- busy times ------------------------------------------------------------------------------------------
 *
 * A reader adds the time since a running command began. The version is odd while they change, all of it in
 * sequentially consistent order. The end of a command is read off the clock in between, and so after the time
 * of any reader who saw the version before it: what readers see never goes back. Engines of a kind that work
 * at the same time keep the device busy once. */

static void begin_one(sg_device *device, sg_engine engine, uint64_t now) {
    if (device->running[engine]++)
        return;
    atomic_fetch_add(&device->busy_version, 1);
    atomic_store(&device->busy_since[engine], now);
    atomic_fetch_add(&device->busy_version, 1);
}

static uint64_t end_one(sg_device *device, sg_engine engine) {
    sg_counter counter = engine == SG_COPY_ENGINE ? SG_COPY_BUSY_NS : SG_COMPUTE_BUSY_NS;
    if (--device->running[engine])
        return sg_now();
    atomic_fetch_add(&device->busy_version, 1);
    uint64_t now = sg_now();
    uint64_t since = atomic_exchange(&device->busy_since[engine], 0);
    atomic_fetch_add(&device->counters[counter], now - since);
    atomic_fetch_add(&device->busy_version, 1);
    return now;
}

/* A sub-device's command keeps its root busy, a root's command all its sub-devices. */
void sg_busy_begin(sg_execution *execution) {
    const sg_device *device = execution->device;
    execution->start = sg_now();
    begin_one(device->root->device, execution->engine, execution->start);
    for (uint32_t tile = 0; tile < sg_sub_device_count(); ++tile)
        if (!device->parent || device->root->sub_devices[tile] == device) {
            execution->busy_tiles |= (uint32_t)1 << tile;
            begin_one(device->root->sub_devices[tile], execution->engine, execution->start);
        }
}

uint64_t sg_busy_end(const sg_execution *execution) {
    const sg_root *root = execution->device->root;
    for (uint32_t tile = 0; tile < SG_MAX_SUB_DEVICES; ++tile)
        if (execution->busy_tiles >> tile & 1)
            end_one(root->sub_devices[tile], execution->engine);
    return end_one(root->device, execution->engine);
}

static uint64_t cycles_now(void) {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return sg_now();
#endif
}

/* And the time itself, read off the clock where the version is seen to be the same before and after: a device
 * is never busy for longer than the time. */
static void read_busy_times(sg_device *device, uint64_t counters[SG_COUNTER_COUNT]) {
    uint64_t version;
    do {
        while ((version = atomic_load(&device->busy_version)) & 1)
            sched_yield();
        uint64_t now = sg_now();
        counters[SG_TIME_NS] = now;
        counters[SG_CYCLES] = cycles_now();
        for (unsigned engine = 0; engine < SG_ENGINE_COUNT; ++engine) {
            sg_counter counter = engine == SG_COPY_ENGINE ? SG_COPY_BUSY_NS : SG_COMPUTE_BUSY_NS;
            uint64_t since = atomic_load(&device->busy_since[engine]);
            counters[counter] = atomic_load(&device->counters[counter]);
            counters[counter] += since && now > since ? now - since : 0;
        }
    } while (atomic_load(&device->busy_version) != version);
}

/* ---- the engine threads' own --------------------------------------------------------------------------- */

_Thread_local sg_engine_thread *sg_own_engine;

void sg_publish_thread_counters(void) {
    struct rusage usage;
    if (!sg_own_engine || getrusage(RUSAGE_THREAD, &usage))
        return;
    _Atomic uint64_t *counters = sg_own_engine->usage;
    atomic_store_explicit(&counters[SG_MINOR_FAULTS], (uint64_t)usage.ru_minflt, memory_order_relaxed);
    atomic_store_explicit(&counters[SG_MAJOR_FAULTS], (uint64_t)usage.ru_majflt, memory_order_relaxed);
    atomic_store_explicit(&counters[SG_VOLUNTARY_SWITCHES], (uint64_t)usage.ru_nvcsw, memory_order_relaxed);
    atomic_store_explicit(&counters[SG_INVOLUNTARY_SWITCHES], (uint64_t)usage.ru_nivcsw,
                          memory_order_relaxed);
}

void sg_watch_thread(sg_device *device, int change) {
    atomic_fetch_add(&device->root->watchers, change);
}

static uint64_t cpu_time_of(const sg_engine_thread *engine) {
    bool is_known = atomic_load_explicit(&engine->cpu_clock_is_set, memory_order_acquire);
    return is_known ? sg_cpu_time(engine->thread, engine->cpu_clock) : 0;
}

static void read_thread_counters(const sg_root *root, uint64_t counters[SG_COUNTER_COUNT]) {
    if (sg_own_engine && sg_own_engine->root == root)
        sg_publish_thread_counters();
    for (unsigned i = SG_CPU_NS; i <= SG_INVOLUNTARY_SWITCHES; ++i)
        counters[i] = 0;
    for (uint32_t engine = 0; engine < atomic_load(&root->engine_count); ++engine) {
        counters[SG_CPU_NS] += cpu_time_of(&root->engines[engine]);
        for (unsigned i = SG_MINOR_FAULTS; i <= SG_INVOLUNTARY_SWITCHES; ++i)
            counters[i] += atomic_load_explicit(&root->engines[engine].usage[i], memory_order_relaxed);
    }
}

/* ---- snapshots ----------------------------------------------------------------------------------------- */

void sg_snapshot(sg_device *device, unsigned flags, uint64_t counters[SG_COUNTER_COUNT]) {
    for (unsigned i = 0; i < SG_COUNTER_COUNT; ++i)
        counters[i] = atomic_load_explicit(&device->counters[i], memory_order_relaxed);
    if (!sg_behaviour_is_on(SOFTGPU_CHEAP_CALLS)) /* there they stand still */
        read_busy_times(device, counters);
    if (flags & SG_WITH_THREAD)
        read_thread_counters(device->root, counters);
}
