/* What a tracer with times alone leaves of the overlap of kernels, and what a launch costs under it: without
   an event; with one that is kept; and with one that has had time stamps before the start, so that the launch
   is measured between barriers. And how much later the application's event signals in each of these ways. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

enum { ROUNDS = 21, KERNELS = 16, KERNEL_US = 500, LAUNCHES = 64, BLOCKS = 64 };

enum { QUEUE_IN_ORDER = 1 << 1 }; /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER, which older headers lack */

typedef enum mode { UNTRACED, STAMPS, EVENTS, BARRIERS, MODES } mode;

static const char *const mode_names[MODES] = {"untraced", "stamps", "events", "barriers"};

typedef struct launcher {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_event_pool_handle_t pools[MODES];
    ze_event_handle_t events[MODES][KERNELS]; /* of kernels; NULL: they signal nothing */
    ze_event_handle_t done;
} launcher;

static void create_events(launcher *l, mode of, uint32_t count) {
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 KERNELS};
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    if (of == BARRIERS)
        desc.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    CHECK(zeEventPoolCreate(gpu.context, &desc, 1, &gpu.device, &l->pools[of]));
    for (event.index = 0; event.index < count; event.index++)
        CHECK(zeEventCreate(l->pools[of], &event, &l->events[of][event.index]));
}

static void destroy_events(launcher *l, mode of) {
    for (int i = 0; i < KERNELS; i++)
        CHECK(zeEventDestroy(l->events[of][i]));
    CHECK(zeEventPoolDestroy(l->pools[of]));
}

static void set_time(launcher *l, uint32_t microseconds) {
    CHECK(zeKernelSetArgumentValue(l->kernel, 0, sizeof microseconds, &microseconds));
}

static void launch(launcher *l, ze_command_list_handle_t list, ze_event_handle_t event) {
    const ze_group_count_t one = {1, 1, 1};
    CHECK(zeCommandListAppendLaunchKernel(list, l->kernel, &one, event, 0, NULL));
}

/* Starts the trace, and creates events before or after that. */
static zt_profiler *begin(launcher *l, mode wanted) {
    zt_config config = {0};
    zt_profiler *profiler = NULL;
    config.groups = "";
    if (wanted == BARRIERS)
        create_events(l, wanted, KERNELS);
    if (wanted != UNTRACED) {
        CHECK(zt_open(gpu.context, gpu.device, &config, &profiler));
        CHECK(zt_trace_start(profiler, NULL));
    }
    if (wanted == EVENTS)
        create_events(l, wanted, KERNELS);
    return profiler;
}

static void end(launcher *l, mode of, zt_profiler *profiler) {
    if (profiler)
        close_profiler(profiler);
    if (of >= EVENTS)
        destroy_events(l, of);
}

/* ---- overlap --------------------------------------------------------------------------------------------- */

/* Elapsed time of kernels that need not wait for each other, on a list that is not in order. */
static double time_kernels(launcher *l, mode of) {
    zt_profiler *profiler = begin(l, of);
    target t = open_target(IMMEDIATE);
    double began = now_ns(), took;
    for (int i = 0; i < KERNELS; i++)
        launch(l, t.list, l->events[of][i]);
    for (int i = 0; i < KERNELS && l->events[of][i]; i++)
        CHECK(zeEventHostSynchronize(l->events[of][i], UINT64_MAX));
    CHECK(zeCommandListAppendBarrier(t.list, l->done, 0, NULL));
    CHECK(zeEventHostSynchronize(l->done, UINT64_MAX));
    CHECK(zeEventHostReset(l->done));
    took = now_ns() - began;
    close_target(&t);
    end(l, of, profiler);
    return took;
}

static void measure_overlap(launcher *l) {
    double ratios[MODES][ROUNDS];
    gpu.behave(SOFTGPU_CHEAP_CALLS, 0);
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    set_time(l, KERNEL_US);
    for (int i = 0; i < ROUNDS; i++) {
        double untraced = time_kernels(l, UNTRACED);
        for (mode m = STAMPS; m < MODES; m++)
            ratios[m][i] = time_kernels(l, m) / untraced;
    }
    put_ratio("overlap_stamps", median(ratios[STAMPS], ROUNDS), AT_MOST, 1.1);
    put_ratio("overlap_events", median(ratios[EVENTS], ROUNDS), AT_MOST, 1.1);
    put_ratio("overlap_barriers", median(ratios[BARRIERS], ROUNDS), STATED, 0);
}

/* ---- the cost of a launch -------------------------------------------------------------------------------- */

/* Nanoseconds of this thread a launch, with what it collects. The kernels run in the same thread. Events are
   waited for and reset. */
static double time_launches(launcher *l, mode of) {
    zt_profiler *profiler = begin(l, of);
    double took[BLOCKS];
    target t = open_target(IMMEDIATE);
    for (int b = 0; b < BLOCKS; b++) {
        took[b] = processor_ns();
        for (int i = 0; i < LAUNCHES; i++) {
            launch(l, t.list, l->events[of][0]);
            if (of == EVENTS || of == BARRIERS) {
                CHECK(zeEventHostSynchronize(l->events[of][0], UINT64_MAX));
                CHECK(zeEventHostReset(l->events[of][0]));
            }
        }
        took[b] = (processor_ns() - took[b]) / LAUNCHES;
    }
    close_target(&t);
    end(l, of, profiler);
    return median(took, BLOCKS);
}

static void measure_cost(launcher *l) {
    double times[MODES][ROUNDS], ratios[MODES][ROUNDS];
    gpu.behave(SOFTGPU_CHEAP_CALLS, 1);
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 0);
    set_time(l, 0);
    for (int i = 0; i < ROUNDS; i++)
        for (mode m = UNTRACED; m < MODES; m++)
            times[m][i] = time_launches(l, m);
    for (int i = 0; i < ROUNDS; i++)
        for (mode m = UNTRACED; m < MODES; m++)
            ratios[m][i] = times[m][i] / times[BARRIERS][i];
    printf("# a launch:");
    for (mode m = UNTRACED; m < MODES; m++)
        printf(" %s %.0f ns", mode_names[m], median(times[m], ROUNDS));
    printf("\n");
    put_ratio("launch_stamps", median(ratios[STAMPS], ROUNDS), AT_MOST, 1);
    put_ratio("launch_events", median(ratios[EVENTS], ROUNDS), AT_MOST, 1);
}

/* ---- the event of the application ------------------------------------------------------------------------ */

/* Nanoseconds from a launch until the application sees its event. On a list in order, the library uses an event of its
   own, and a signal of that of the application follows the kernel. */
static double time_event(launcher *l, mode of, int is_in_order) {
    zt_profiler *profiler = begin(l, of);
    ze_event_handle_t event = of == UNTRACED ? l->done : l->events[of][0];
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .flags = is_in_order ? QUEUE_IN_ORDER : 0,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    double took[KERNELS];
    CHECK(zeCommandListCreateImmediate(gpu.context, gpu.device, &desc, &list));
    for (int i = 0; i < KERNELS; i++) {
        took[i] = now_ns();
        launch(l, list, event);
        CHECK(zeEventHostSynchronize(event, UINT64_MAX));
        took[i] = now_ns() - took[i];
        CHECK(zeEventHostReset(event));
    }
    CHECK(zeCommandListDestroy(list));
    end(l, of, profiler);
    return median(took, KERNELS);
}

static void measure_delay(launcher *l, int is_in_order) {
    double ratios[MODES][ROUNDS], delays[MODES][ROUNDS];
    gpu.behave(SOFTGPU_CHEAP_CALLS, 0);
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    set_time(l, KERNEL_US);
    for (int i = 0; i < ROUNDS; i++) {
        double untraced = time_event(l, UNTRACED, is_in_order);
        for (mode m = EVENTS; m < MODES; m++) {
            double traced = time_event(l, m, is_in_order);
            ratios[m][i] = traced / untraced;
            delays[m][i] = traced - untraced;
        }
    }
    printf("# an event after a kernel of %d us, on a list %s order, is later by:", KERNEL_US,
           is_in_order ? "in" : "out of");
    for (mode m = EVENTS; m < MODES; m++)
        printf(" %s %.1f us", mode_names[m], median(delays[m], ROUNDS) / 1e3);
    printf("\n");
    if (is_in_order) {
        put_ratio("event_signals", median(ratios[EVENTS], ROUNDS), AT_MOST, 1.1);
    } else {
        put_ratio("event_kept", median(ratios[EVENTS], ROUNDS), AT_MOST, 1.1);
        put_ratio("event_barriers", median(ratios[BARRIERS], ROUNDS), STATED, 0);
    }
}

int main(int argc, char **argv) {
    static launcher l;
    (void)argc;
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1); /* for loaders before 1.15.7 */
    open_gpu();
    load_kernel(argv[0], "idle", &l.module, &l.kernel);
    create_events(&l, UNTRACED, 1);
    l.done = l.events[UNTRACED][0];
    l.events[UNTRACED][0] = NULL;
    measure_overlap(&l);
    measure_delay(&l, 0);
    measure_delay(&l, 1);
    measure_cost(&l);
    CHECK(zeEventDestroy(l.done));
    CHECK(zeEventPoolDestroy(l.pools[UNTRACED]));
    CHECK(zeKernelDestroy(l.kernel));
    CHECK(zeModuleDestroy(l.module));
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
