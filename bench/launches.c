/* What a tracer with times alone adds to the call that launches a kernel on an immediate list, in
   nanoseconds: without an event, with an event of the application, and on a list in order. Launches with and
   without a tracer take turns; in both cases the loader's tracing layer is on. */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

enum { ROUNDS = 61, BATCHES = 2, LAUNCHES = 64 };

enum { QUEUE_IN_ORDER = 1 << 1 }; /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER, which older headers lack */

typedef struct launcher {
    zt_profiler *profiler;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[LAUNCHES + 1]; /* the last is for waiting */
    int has_events;
} launcher;

typedef struct way {
    const char *name;
    int has_events;
    uint32_t queue_flags;
    double wanted;
} way;

static void prepare(launcher *l, const way *w) {
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, w->queue_flags, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 LAUNCHES + 1};
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    CHECK(zeCommandListCreateImmediate(gpu.context, gpu.device, &queue, &l->list));
    CHECK(zeEventPoolCreate(gpu.context, &desc, 1, &gpu.device, &l->pool));
    for (event.index = 0; event.index <= LAUNCHES; event.index++)
        CHECK(zeEventCreate(l->pool, &event, &l->events[event.index]));
    l->has_events = w->has_events;
}

static void unprepare(launcher *l) {
    for (int i = 0; i <= LAUNCHES; i++)
        CHECK(zeEventDestroy(l->events[i]));
    CHECK(zeEventPoolDestroy(l->pool));
    CHECK(zeCommandListDestroy(l->list));
}

/* Nanoseconds of this thread a launch. */
static double time_launches(launcher *l) {
    const ze_group_count_t one = {1, 1, 1};
    double took = processor_ns();
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(zeCommandListAppendLaunchKernel(l->list, l->kernel, &one, l->has_events ? l->events[i] : NULL,
                                              0, NULL));
    took = processor_ns() - took;
    CHECK(zeCommandListAppendBarrier(l->list, l->events[LAUNCHES], 0, NULL));
    CHECK(zeEventHostSynchronize(l->events[LAUNCHES], UINT64_MAX));
    CHECK(zt_collect(l->profiler, UINT64_C(10000000000)));
    for (int i = l->has_events ? 0 : LAUNCHES; i <= LAUNCHES; i++)
        CHECK(zeEventHostReset(l->events[i]));
    return took / LAUNCHES;
}

/* A tracer sees how list and events are made; launches on those that it did not see are serialised. */
static double time_round(launcher *l, const way *w, int is_traced) {
    double took = 0;
    if (is_traced)
        CHECK(zt_trace_start(l->profiler, NULL));
    prepare(l, w);
    time_launches(l); /* warm-up */
    for (int i = 0; i < BATCHES; i++)
        took += time_launches(l) / BATCHES;
    unprepare(l);
    if (is_traced)
        CHECK(zt_trace_stop(l->profiler));
    return took;
}

static void measure(launcher *l, const way *w) {
    double added[ROUNDS], untraced[ROUNDS], traced[ROUNDS];
    uint64_t serialised = zt_get_info(l->profiler).launches.serialised;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2)
            traced[i] = time_round(l, w, 1);
        untraced[i] = time_round(l, w, 0);
        if (i % 2 == 0)
            traced[i] = time_round(l, w, 1);
        added[i] = traced[i] - untraced[i];
    }
    NEED(zt_get_info(l->profiler).launches.serialised == serialised);
    put_row(w->name, NULL, median(added, ROUNDS), AT_MOST, w->wanted);
    printf("# %s: a launch takes %.0f ns, traced %.0f ns\n", w->name, median(untraced, ROUNDS),
           median(traced, ROUNDS));
}

/* The median time of a launch of one profiler, and then of another, in turns: a process has one tracer at a time. */
static double compare_launches(launcher *late, launcher *early, const way *w) {
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double before = i % 2 ? time_round(early, w, 1) : 0, of_late = time_round(late, w, 1);
        ratios[i] = of_late / (i % 2 ? before : time_round(early, w, 1));
    }
    return median(ratios, ROUNDS);
}

static void launch_many(launcher *l, const way *w, uint32_t launches) {
    CHECK(zt_trace_start(l->profiler, NULL));
    prepare(l, w);
    for (uint32_t done = 0; done < launches; done += LAUNCHES)
        time_launches(l);
    unprepare(l);
    CHECK(zt_trace_stop(l->profiler));
}

/* Whether a traced launch costs the same after many. */
static void measure_growth(launcher *l, const zt_config *config) {
    enum { EARLY = 10000, LATE = 10000000 };
    const way plain = {"growth_launches", 0, 0, 1.05};
    launcher late = *l, early = *l;
    CHECK(zt_open(gpu.context, gpu.device, config, &late.profiler));
    CHECK(zt_open(gpu.context, gpu.device, config, &early.profiler));
    launch_many(&late, &plain, LATE);
    launch_many(&early, &plain, EARLY);
    FOR_ALL_COSTS {
        put_row(plain.name, NULL, compare_launches(&late, &early, &plain), AT_MOST, plain.wanted);
    }
    close_profiler(late.profiler);
    close_profiler(early.profiler);
}

int main(int argc, char **argv) {
    static const way ways[] = {
        {"launch_adds", 0, 0, 1000},
        {"launch_adds_event", 1, 0, 2000},
        {"launch_adds_in_order", 0, QUEUE_IN_ORDER, 1000},
        {"launch_adds_in_order_event", 1, QUEUE_IN_ORDER, 2000},
    };
    zt_config config = {0};
    launcher l;
    void *nothing = NULL;
    uint32_t zero = 0;
    (void)argc;
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1); /* for loaders before 1.15.7 */
    open_gpu();
    config.groups = "";
    CHECK(zt_open(gpu.context, gpu.device, &config, &l.profiler));
    load_kernel(argv[0], "saxpy", &l.module, &l.kernel);
    for (uint32_t i = 0; i < 4; i++) /* no elements */
        CHECK(zeKernelSetArgumentValue(l.kernel, i, i < 2 ? sizeof nothing : sizeof zero,
                                       i < 2 ? (void *)&nothing : (void *)&zero));
    FOR_ALL_COSTS {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            measure(&l, &ways[i]);
    }
    set_costs(CHEAP);
    measure_growth(&l, &config);
    close_profiler(l.profiler);
    CHECK(zeKernelDestroy(l.kernel));
    CHECK(zeModuleDestroy(l.module));
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
