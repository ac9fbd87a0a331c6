/* What the benchmarks share: the device and what its calls cost, times that are compared in turns, and the
   lines that `make bench` gathers. The device is the one in software; some benchmarks also run on a real
   driver, for `make bench-intel`. */
#ifndef BENCH_H
#define BENCH_H

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/softgpu/softgpu_control.h"
#include "zetools.h"

#define CHECK(call) bench_check((call), #call, __FILE__, __LINE__)

enum { BATCH = 64 }; /* regions that the library collects at once */

static void bench_fail(const char *what, const char *file, int line) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    exit(EXIT_FAILURE);
}

static inline void bench_check(ze_result_t result, const char *call, const char *file, int line) {
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "%s: 0x%x\n", call, (unsigned)result);
    bench_fail(call, file, line);
}

#define NEED(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            bench_fail(#condition, __FILE__, __LINE__);                                                      \
    } while (0)

/* ---- the device ------------------------------------------------------------------------------------------ */

/* Its control interface: gpu.behave is softgpu_behave, and so on. */
#define GPU_FUNCTIONS(X) X(behave) X(calls) X(reset_calls) X(set_devices) X(set_call_cost) X(set_real_costs)

static struct gpu {
#define GPU_MEMBER(name) __typeof__(softgpu_##name) *name;
    GPU_FUNCTIONS(GPU_MEMBER)
#undef GPU_MEMBER
    int is_real; /* any other driver, which has no such interface */
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
} gpu;

static inline void reach_control(void) {
    const char *path = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    gpu.is_real = !path;
    if (gpu.is_real)
        return;
    NEED(driver);
#define REACH(name)                                                                                          \
    *(void **)&gpu.name = dlsym(driver, "softgpu_" #name);                                                   \
    NEED(gpu.name);
    GPU_FUNCTIONS(REACH)
#undef REACH
}

/* Calls as dear as a real driver's, or as cheap as they can be. In both cases commands on an immediate list
   run in the thread that appends them, so that no other thread competes for the processor. A real driver has
   its own costs alone. */
typedef enum costs { REAL, CHEAP, COSTS } costs;

static costs current_costs;

/* Returns whether calls can cost that. */
static inline int set_costs(costs wanted) {
    /* The properties of a metric cost what remains of 32 us for a region by hand, shared among its metrics.
     */
    enum { PROPERTIES_NS = 440 };
    if (gpu.is_real)
        return wanted == REAL;
    current_costs = wanted;
    gpu.set_real_costs(wanted == REAL);
    gpu.set_call_cost("zetMetricGetProperties", wanted == REAL ? PROPERTIES_NS : 0);
    return 1;
}

#define FOR_ALL_COSTS for (costs costs_ = REAL; costs_ < COSTS && set_costs(costs_); costs_++)

/* Intel's driver takes 170 kB from the C library for the calculation of a batch. A program that has never freed as much
   gives them back to the system each time, or not, as its heap happens to be: 500 ns a region, now for the bare calls
   and now for the library. Here, as in larger programs, the C library keeps them. */
static inline void keep_memory(void) {
    mallopt(M_TRIM_THRESHOLD, 1 << 26);
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
}

static inline void open_gpu(void) {
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    uint32_t one = 1;
    keep_memory();
    CHECK(zeInit(0));
    reach_control();
    if (!gpu.is_real) {
        gpu.behave(SOFTGPU_CHEAP_CALLS, 1);
        gpu.behave(SOFTGPU_B580_METRICS, 1); /* as many as a real device has */
    }
    CHECK(zeDriverGet(&one, &gpu.driver));
    CHECK(zeDeviceGet(gpu.driver, &one, &gpu.device));
    CHECK(zeContextCreate(gpu.driver, &desc, &gpu.context));
    set_costs(CHEAP);
}

typedef enum kind { IMMEDIATE, RECORDED, KINDS } kind;

static const char *const kind_names[KINDS] = {"immediate", "recorded"};

/* A command list, the queue for it where it is recorded, and an event to wait for where it is immediate. */
typedef struct target {
    kind kind;
    ze_command_list_handle_t list;
    ze_command_queue_handle_t queue;
    ze_event_pool_handle_t pool;
    ze_event_handle_t done;
} target;

static inline target open_target(kind wanted) {
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_list_desc_t list = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
    ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    target t = {wanted, NULL, NULL, NULL, NULL};
    CHECK(zeEventPoolCreate(gpu.context, &pool, 1, &gpu.device, &t.pool));
    CHECK(zeEventCreate(t.pool, &event, &t.done));
    if (wanted == IMMEDIATE) {
        CHECK(zeCommandListCreateImmediate(gpu.context, gpu.device, &queue, &t.list));
    } else {
        CHECK(zeCommandListCreate(gpu.context, gpu.device, &list, &t.list));
        CHECK(zeCommandQueueCreate(gpu.context, gpu.device, &queue, &t.queue));
    }
    return t;
}

/* Waits until the device has reached the end of what was submitted. */
static inline void await_target(target *t) {
    if (t->kind == RECORDED) {
        CHECK(zeCommandQueueSynchronize(t->queue, UINT64_MAX));
        return;
    }
    CHECK(zeCommandListAppendBarrier(t->list, t->done, 0, NULL));
    CHECK(zeEventHostSynchronize(t->done, UINT64_MAX));
    CHECK(zeEventHostReset(t->done));
}

/* The work of a region. Without any, a device may mark the data of a query as invalid. */
static inline void append_work(const target *t) {
    CHECK(zeCommandListAppendBarrier(t->list, NULL, 0, NULL));
}

static inline void close_target(target *t) {
    CHECK(zeEventDestroy(t->done));
    CHECK(zeEventPoolDestroy(t->pool));
    CHECK(zeCommandListDestroy(t->list));
    if (t->queue)
        CHECK(zeCommandQueueDestroy(t->queue));
}

static inline zt_profiler *open_profiler(const zt_config *given) {
    zt_config config = given ? *given : (zt_config){0};
    zt_profiler *profiler;
    if (!config.groups)
        config.groups = "ComputeBasic";
    config.require_metrics = 1;
    CHECK(zt_open(gpu.context, gpu.device, &config, &profiler));
    return profiler;
}

/* A profiler that lost or dropped anything has measured something else than the others. A real driver loses
   a query on an immediate list now and then. */
static inline void close_profiler(zt_profiler *profiler) {
    zt_counts counts;
    CHECK(zt_collect(profiler, UINT64_C(10000000000)));
    counts = zt_get_info(profiler).counts;
    for (int i = 0; i < ZT_CAUSE_COUNT; i++)
        if (zt_get_info(profiler).causes[(zt_cause)i].count)
            fprintf(stderr, "%s: %llu\n", zt_get_info(NULL).causes[(zt_cause)i].name,
                    (unsigned long long)zt_get_info(profiler).causes[(zt_cause)i].count);
    NEED(counts.begun == counts.collected ||
         (gpu.is_real && counts.collected + counts.lost == counts.begun && counts.lost < counts.begun / 100));
    zt_close(profiler);
}

/* ---- time ------------------------------------------------------------------------------------------------ */

static inline double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* What is compared is processor time of the calling thread, which other programs on the machine change
   little. Each work says with start_watch() and stop_watch() what of it counts. */
static __thread double watch_ns;

static inline double processor_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void start_watch(void) {
    watch_ns -= processor_ns();
}

static inline void stop_watch(void) {
    watch_ns += processor_ns();
}

typedef struct work {
    void (*run)(void *argument, uint32_t regions);
    void *argument;
} work;

/* Nanoseconds that one region takes. */
static inline double time_of(work w, uint32_t regions) {
    watch_ns = 0;
    w.run(w.argument, regions);
    return watch_ns / regions;
}

enum { MAX_ROUNDS = 512 };

/* The median of the ratio of `a` over `b`, measured in turns so that what disturbs the machine strikes both.
   Their medians go to `times`, where that is not NULL. */
static inline double compare(work a, work b, int rounds, uint32_t regions, double times[2]) {
    double ratios[MAX_ROUNDS], of_a[MAX_ROUNDS], of_b[MAX_ROUNDS];
    time_of(a, regions); /* warm-up */
    time_of(b, regions);
    for (int i = 0; i < rounds; i++) {
        if (i % 2)
            of_a[i] = time_of(a, regions);
        of_b[i] = time_of(b, regions);
        if (i % 2 == 0)
            of_a[i] = time_of(a, regions);
        ratios[i] = of_a[i] / of_b[i];
    }
    if (times) {
        times[0] = median(of_a, rounds);
        times[1] = median(of_b, rounds);
    }
    return median(ratios, rounds);
}

/* ---- results --------------------------------------------------------------------------------------------- */

typedef enum goal { AT_MOST, AT_LEAST, STATED } goal;

static inline void put_ratio(const char *name, double value, goal direction, double wanted) {
    int ok = direction == STATED || (direction == AT_MOST ? value <= wanted : value >= wanted);
    if (direction == STATED)
        printf("ratio %s %.4g target - ok\n", name, value);
    else
        printf("ratio %s %.4g target %.4g %s\n", name, value, wanted, ok ? "ok" : "short");
    fflush(stdout);
}

/* What cannot be noise fails the program. */
static inline int put_exact(const char *name, double value, double most) {
    put_ratio(name, value, AT_MOST, most);
    return value <= most ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A row of a kind of list, if `suffix` is not NULL. Targets are for calls as dear as a real driver's. */
static inline void put_row(const char *name, const char *suffix, double value, goal direction,
                           double wanted) {
    char row[64];
    snprintf(row, sizeof row, "%s%s%s%s", name, suffix ? "_" : "", suffix ? suffix : "",
             current_costs == CHEAP ? "_cheap" : "");
    put_ratio(row, value, current_costs == CHEAP ? STATED : direction, wanted);
}

/* Of build/kernels/NAME.so, or .spv, beside the program. The kernel has work-groups of one item. */
static inline void load_kernel(const char *program, const char *name, ze_module_handle_t *module,
                               ze_kernel_handle_t *kernel) {
    static uint8_t code[1 << 20];
    ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC,
                             NULL,
                             gpu.is_real ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE,
                             0,
                             code,
                             "",
                             NULL};
    ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    const char *slash = strrchr(program, '/');
    char path[PATH_MAX];
    FILE *file;
    snprintf(path, sizeof path, "%.*s/../kernels/%s.%s", slash ? (int)(slash - program) : 1,
             slash ? program : ".", name, gpu.is_real ? "spv" : "so");
    file = fopen(path, "rb");
    NEED(file);
    desc.inputSize = fread(code, 1, sizeof code, file);
    fclose(file);
    CHECK(zeModuleCreate(gpu.context, gpu.device, &desc, module, NULL));
    CHECK(zeKernelCreate(*module, &kernel_desc, kernel));
    CHECK(zeKernelSetGroupSize(*kernel, 1, 1, 1));
}

/* The main function of a benchmark of both kinds of lists. */
static inline int measure_both_kinds(void (*measure)(kind wanted)) {
    open_gpu();
    measure(IMMEDIATE);
    measure(RECORDED);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}

#endif
