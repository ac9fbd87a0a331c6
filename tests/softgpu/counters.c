/* What devices count. The device thread writes; any thread reads. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "work.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

static void add(sg_device *device, sg_counter counter, uint64_t amount) {
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
 * of any reader who saw the version before it: what readers see never goes back. */

static void begin_one(sg_device *device, sg_engine engine, uint64_t now) {
    atomic_fetch_add(&device->busy_version, 1);
    atomic_store(&device->busy_since[engine], now);
    atomic_fetch_add(&device->busy_version, 1);
}

static uint64_t end_one(sg_device *device, sg_engine engine) {
    sg_counter counter = engine == SG_COPY_ENGINE ? SG_COPY_BUSY_NS : SG_COMPUTE_BUSY_NS;
    atomic_fetch_add(&device->busy_version, 1);
    uint64_t now = sg_now();
    uint64_t since = atomic_exchange(&device->busy_since[engine], 0);
    atomic_fetch_add(&device->counters[counter], now - since);
    atomic_fetch_add(&device->busy_version, 1);
    return now;
}

/* A sub-device's command keeps its root busy, a root's command all its sub-devices. */
void sg_busy_begin(sg_device *device, sg_engine engine, uint64_t now) {
    begin_one(device->root->device, engine, now);
    for (uint32_t tile = 0; tile < sg_sub_device_count(); ++tile)
        if (!device->parent || device->root->sub_devices[tile] == device)
            begin_one(device->root->sub_devices[tile], engine, now);
}

uint64_t sg_busy_end(sg_device *device, sg_engine engine) {
    for (uint32_t tile = 0; tile < SG_MAX_SUB_DEVICES; ++tile)
        if (atomic_load_explicit(&device->root->sub_devices[tile]->busy_since[engine], memory_order_relaxed))
            end_one(device->root->sub_devices[tile], engine);
    return end_one(device->root->device, engine);
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

/* ---- the device thread's own --------------------------------------------------------------------------- */

void sg_publish_thread_counters(sg_root *root) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage))
        return;
    _Atomic uint64_t *counters = root->device->counters;
    atomic_store_explicit(&counters[SG_MINOR_FAULTS], (uint64_t)usage.ru_minflt, memory_order_relaxed);
    atomic_store_explicit(&counters[SG_MAJOR_FAULTS], (uint64_t)usage.ru_majflt, memory_order_relaxed);
    atomic_store_explicit(&counters[SG_VOLUNTARY_SWITCHES], (uint64_t)usage.ru_nvcsw, memory_order_relaxed);
    atomic_store_explicit(&counters[SG_INVOLUNTARY_SWITCHES], (uint64_t)usage.ru_nivcsw,
                          memory_order_relaxed);
}

void sg_watch_thread(sg_device *device, int change) {
    atomic_fetch_add(&device->root->watchers, change);
}

static void read_thread_counters(sg_root *root, uint64_t counters[SG_COUNTER_COUNT]) {
    struct timespec cpu = {0, 0};
    if (atomic_load_explicit(&root->cpu_clock_is_set, memory_order_acquire)) {
        if (pthread_equal(root->thread_self, pthread_self()))
            sg_publish_thread_counters(root);
        if (clock_gettime(root->cpu_clock, &cpu) == 0)
            counters[SG_CPU_NS] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    }
    for (unsigned i = SG_MINOR_FAULTS; i <= SG_INVOLUNTARY_SWITCHES; ++i)
        counters[i] = atomic_load_explicit(&root->device->counters[i], memory_order_relaxed);
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
