/* What has gone wrong on Intel's driver, and on no other device: each fault in a process of its own, because
   it may crash or hang. Usage: faults NAME; without one it lists the names. */
#include "intel.h"

#include <dlfcn.h>
#include <signal.h>

#define REQUIRE(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                           \
            printf(__VA_ARGS__);                                                                             \
            printf("\n");                                                                                    \
            return EXIT_FAILURE;                                                                             \
        }                                                                                                    \
    } while (0)

static void trace(zt_profiler *profiler) {
    CHECK(zt_trace_start(profiler, NULL));
}

static zt_counts collect_all(zt_profiler *profiler) {
    zt_collect(profiler, TIMEOUT_NS);
    show_causes(profiler);
    return zt_get_info(profiler).counts;
}

/* ---- events of the application --------------------------------------------------------------------------- */

typedef ze_result_t (*create_event_fn)(ze_context_handle_t, ze_device_handle_t, const void *,
                                       ze_event_handle_t *);

/* A counter-based event has no pool: zeEventGetEventPool succeeds with NULL, and what is asked about that pool
   crashes. */
static int launch_with(const gpu *g, create_event_fn create, uint32_t stype) {
    struct {
        uint32_t stype;
        const void *next;
        uint32_t flags, signal, wait;
    } desc = {stype, NULL, 1 /* immediate lists */, ZE_EVENT_SCOPE_FLAG_HOST, 0};
    ze_command_list_handle_t list = open_immediate(g, QUEUE_IN_ORDER);
    zt_profiler *profiler = open_profiler(g, "");
    program nothing = open_nothing(g);
    ze_event_handle_t event;
    zt_counts counts;
    trace(profiler);
    CHECK(create(g->context, g->device, &desc, &event));
    for (int i = 0; i < 10; i++) {
        append_launch(list, &nothing, event);
        CHECK(zeEventHostSynchronize(event, TIMEOUT_NS));
    }
    counts = collect_all(profiler);
    CHECK(zeEventDestroy(event));
    CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    program_unload(&nothing);
    CHECK(zeCommandListDestroy(list));
    REQUIRE(counts.begun == 10 && counts.collected == 10, "%llu of 10", (unsigned long long)counts.collected);
    return EXIT_SUCCESS;
}

static int event_without_pool(const gpu *g) {
    create_event_fn create = NULL;
    ze_driver_handle_t driver;
    uint32_t one = 1;
    CHECK(zeDriverGet(&one, &driver));
    if (zeDriverGetExtensionFunctionAddress(driver, "zexCounterBasedEventCreate2", (void **)&create) !=
        ZE_RESULT_SUCCESS) {
        printf("the driver has no such events\n");
        return EXIT_SUCCESS;
    }
    return launch_with(g, create, 0x0003001c);
}

static int counter_based_event(const gpu *g) {
    create_event_fn create;
    *(void **)&create = dlsym(RTLD_DEFAULT, "zeEventCounterBasedCreate");
    if (!create) {
        printf("the loader has no such events\n");
        return EXIT_SUCCESS;
    }
    return launch_with(g, create, 0x00020041);
}

/* Time stamps of an event that the host has reset keep the driver busy for five seconds. */
static int stamps_of_a_reset_event(const gpu *g) {
    zt_profiler *profiler = open_profiler(g, "");
    program nothing = open_nothing(g);
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_list_handle_t list;
    uint64_t took;
    zt_counts counts;
    trace(profiler);
    list = open_immediate(g, QUEUE_IN_ORDER);
    pool = open_events(g, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1, &event);
    took = now_ns();
    for (int i = 0; i < 12; i++) {
        append_launch(list, &nothing, event);
        CHECK(zeEventHostSynchronize(event, TIMEOUT_NS));
        CHECK(zeEventHostReset(event));
    }
    took = now_ns() - took;
    counts = collect_all(profiler);
    close_events(pool, 1, &event);
    CHECK(zeCommandListDestroy(list));
    CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    program_unload(&nothing);
    REQUIRE(took < UINT64_C(2000000000), "12 launches took %.1f s", (double)took / 1e9);
    REQUIRE(counts.collected + counts.lost + counts.dropped == 12, "%llu of 12 collected",
            (unsigned long long)counts.collected);
    return EXIT_SUCCESS;
}

/* On lists in order, time stamps are there before they are complete. */
static int half_written_stamps(const gpu *g) {
    enum { LAUNCHES = 4000, EVENTS = 8 };
    zt_profiler *profiler = open_profiler(g, "");
    program nothing = open_nothing(g);
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[EVENTS];
    ze_command_list_handle_t list;
    zt_counts counts;
    trace(profiler);
    list = open_immediate(g, QUEUE_IN_ORDER);
    pool = open_events(g, 0, EVENTS, events);
    for (int i = 0; i < LAUNCHES; i++) {
        append_launch(list, &nothing, events[i % EVENTS]);
        zt_collect(profiler, 0);
        if (i % EVENTS == EVENTS - 1) {
            CHECK(zeEventHostSynchronize(events[EVENTS - 1], TIMEOUT_NS));
            for (int e = 0; e < EVENTS; e++)
                CHECK(zeEventHostReset(events[e]));
        }
    }
    counts = collect_all(profiler);
    close_events(pool, EVENTS, events);
    CHECK(zeCommandListDestroy(list));
    CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    program_unload(&nothing);
    REQUIRE(counts.begun == LAUNCHES && counts.collected == LAUNCHES, "%llu collected, %llu lost",
            (unsigned long long)counts.collected, (unsigned long long)counts.lost);
    return EXIT_SUCCESS;
}

/* A copy of time stamps in the list takes 60 to 70 microseconds for each launch, and memory of the device. */
static int copies_of_stamps(const gpu *g) {
    enum { LAUNCHES = 200 };
    zt_profiler *profiler = open_profiler(g, "");
    program nothing = open_nothing(g);
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[LAUNCHES];
    ze_command_queue_handle_t queue = open_queue(g);
    uint64_t took[2];
    zt_counts counts;
    for (int traced = 0; traced < 2; traced++) {
        ze_command_list_handle_t list;
        if (traced)
            trace(profiler);
        list = open_list(g);
        pool = open_events(g, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, LAUNCHES, events);
        took[traced] = now_ns();
        for (int i = 0; i < LAUNCHES; i++)
            append_launch(list, &nothing, events[i]);
        took[traced] = now_ns() - took[traced];
        CHECK(zeCommandListClose(list));
        CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        CHECK(zeCommandQueueSynchronize(queue, TIMEOUT_NS));
        zt_collect(profiler, TIMEOUT_NS);
        CHECK(zeCommandListDestroy(list));
        close_events(pool, LAUNCHES, events);
    }
    counts = collect_all(profiler);
    CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    CHECK(zeCommandQueueDestroy(queue));
    program_unload(&nothing);
    printf("a launch takes %.1f us, traced %.1f\n", (double)took[0] / LAUNCHES / 1e3,
           (double)took[1] / LAUNCHES / 1e3);
    REQUIRE(counts.collected == LAUNCHES, "%llu collected", (unsigned long long)counts.collected);
#ifndef __SANITIZE_ADDRESS__
    REQUIRE(took[1] < took[0] + LAUNCHES * UINT64_C(30000), "more than 30 us more");
#endif
    return EXIT_SUCCESS;
}

typedef struct group_size { /* ze_group_size_t, which older headers lack */
    uint32_t x, y, z;
} group_size;

/* A program gets functions that launch from the driver. What is not measured has to be counted. */
static int launch_by_pointer(const gpu *g) {
    typedef ze_result_t (*launch_fn)(ze_command_list_handle_t, ze_kernel_handle_t, ze_group_count_t,
                                     group_size, void **, const void *, ze_event_handle_t, uint32_t,
                                     ze_event_handle_t *);
    const char *name = "zeCommandListAppendLaunchKernelWithArguments";
    zt_profiler *profiler = open_profiler(g, "");
    program nothing = open_nothing(g);
    immediate work;
    launch_fn launch = NULL;
    ze_driver_handle_t driver;
    zt_trace_counts launches;
    uint32_t one = 1, none = 0;
    void *memory = NULL;
    float zero = 0;
    void *arguments[] = {&memory, &memory, &zero, &none};
    trace(profiler);
    CHECK(zeDriverGet(&one, &driver));
    if (zeDriverGetExtensionFunctionAddress(driver, name, (void **)&launch) != ZE_RESULT_SUCCESS) {
        printf("the driver has no %s\n", name);
        return EXIT_SUCCESS;
    }
    work = immediate_open(g);
    for (int i = 0; i < 10; i++) {
        const ze_group_count_t groups = {1, 1, 1};
        const group_size size = {1, 1, 1};
        CHECK(launch(work.list, nothing.kernel, groups, size, arguments, NULL, NULL, 0, NULL));
    }
    immediate_wait(&work);
    collect_all(profiler);
    launches = zt_get_info(profiler).launches;
    CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    immediate_close(&work);
    program_unload(&nothing);
    REQUIRE(launches.launches == 10, "%llu of 10 launches were seen", (unsigned long long)launches.launches);
    return EXIT_SUCCESS;
}

/* ---- regions --------------------------------------------------------------------------------------------- */

static void record_nested(zt_profiler *profiler, const gpu *g, ze_command_list_handle_t list, void *memory) {
    const int zero = 0;
    (void)g;
    ZT_REGION(profiler, list, "outer") {
        ZT_REGION(profiler, list, "inner") {
            CHECK(zeCommandListAppendMemoryFill(list, memory, &zero, 1, 64, NULL, 0, NULL));
        }
    }
}

/* The driver reports 2^64 ticks too many for a region around another, from the second execution on. */
static int nested_replay(const gpu *g) {
    enum { EXECUTIONS = 20 };
    zt_profiler *profiler = open_profiler(g, NULL);
    ze_command_queue_handle_t queue = open_queue(g);
    ze_command_list_handle_t list = open_list(g);
    void *memory = gpu_memory(g, 64);
    zt_region_info outer;
    zt_counts counts;
    record_nested(profiler, g, list, memory);
    CHECK(zeCommandListClose(list));
    for (int i = 0; i < EXECUTIONS; i++)
        CHECK(zt_execute(profiler, queue, 1, &list, NULL));
    CHECK(zeCommandQueueSynchronize(queue, TIMEOUT_NS));
    counts = collect_all(profiler);
    CHECK(zt_get_region(profiler, 0, &outer));
    printf("%s: %llu of %d, at most %.0f ns\n", outer.name, (unsigned long long)outer.count, EXECUTIONS,
           outer.time_ns.max);
    zt_release(profiler, list);
    zt_close(profiler);
    CHECK(zeCommandListDestroy(list));
    CHECK(zeCommandQueueDestroy(queue));
    CHECK(zeMemFree(g->context, memory));
    REQUIRE(counts.begun == 2 * EXECUTIONS && counts.in_flight == 0, "%llu begun",
            (unsigned long long)counts.begun);
    REQUIRE(outer.count == EXECUTIONS, "%llu lost", (unsigned long long)outer.lost);
    REQUIRE(outer.time_ns.max < 1e9, "impossible");
    return EXIT_SUCCESS;
}

/* The driver drops one query in some thousands on an immediate list: lost, by name, and nothing waits for it. */
static int undelivered_queries(const gpu *g) {
    enum { REGIONS = 10000 };
    zt_profiler *profiler = open_profiler(g, NULL);
    immediate work = immediate_open(g);
    zt_counts counts;
    uint64_t took = now_ns();
    for (int i = 0; i < REGIONS; i++) {
        ZT_REGION(profiler, work.list, "nothing") { /* without any command, the data is marked as invalid */
            CHECK(zeCommandListAppendBarrier(work.list, NULL, 0, NULL));
        }
        if (i % 100 == 99)
            immediate_wait(&work);
    }
    counts = collect_all(profiler);
    took = now_ns() - took;
    if (counts.lost)
        printf("%s\n", zt_get_info(profiler).error);
    zt_close(profiler);
    immediate_close(&work);
    printf("%.1f s\n", (double)took / 1e9);
    REQUIRE(counts.begun == REGIONS && counts.collected + counts.lost == REGIONS, "%llu begun",
            (unsigned long long)counts.begun);
    REQUIRE(counts.lost < REGIONS / 200, "%llu lost", (unsigned long long)counts.lost);
    REQUIRE(took < UINT64_C(20000000000), "%.1f s", (double)took / 1e9);
    return EXIT_SUCCESS;
}

/* ---- threads --------------------------------------------------------------------------------------------- */

typedef struct runner {
    const gpu *g;
    zt_profiler *profiler; /* NULL: none */
    pthread_t thread;
    int *stop;
    int is_immediate;
    int regions;
} runner;

static void *run_regions(void *argument) {
    runner *r = (runner *)argument;
    immediate work = immediate_open(r->g);
    ze_command_queue_handle_t queue = open_queue(r->g);
    ze_command_list_handle_t list = open_list(r->g);
    for (int done = 0; done < r->regions; done += 8) {
        ze_command_list_handle_t on = r->is_immediate ? work.list : list;
        for (int i = 0; i < 8; i++)
            ZT_REGION(r->profiler, on, r->is_immediate ? "immediate" : "recorded") {
                CHECK(zeCommandListAppendBarrier(on, NULL, 0, NULL));
            }
        if (r->is_immediate) {
            immediate_wait(&work);
            continue;
        }
        CHECK(zeCommandListClose(list));
        CHECK(zt_execute(r->profiler, queue, 1, &list, NULL));
        CHECK(zeCommandQueueSynchronize(queue, TIMEOUT_NS));
        CHECK(zt_reset(r->profiler, list));
    }
    zt_release(r->profiler, work.list);
    zt_release(r->profiler, list);
    CHECK(zeCommandListDestroy(list));
    CHECK(zeCommandQueueDestroy(queue));
    immediate_close(&work);
    return NULL;
}

/* The first use of groups on several threads at once crashes the driver, unless one query ran alone before. */
static int four_threads(const gpu *g) {
    enum { THREADS = 4, REGIONS = 800 };
    for (int round = 0; round < 4; round++) {
        zt_profiler *profiler = open_profiler(g, NULL);
        runner runners[THREADS];
        zt_counts counts;
        for (int i = 0; i < THREADS; i++) {
            runners[i] = (runner){g, profiler, 0, NULL, i % 2 || round % 2, REGIONS};
            pthread_create(&runners[i].thread, NULL, run_regions, &runners[i]);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(runners[i].thread, NULL);
        counts = collect_all(profiler);
        zt_close(profiler);
        REQUIRE(counts.begun == THREADS * REGIONS && counts.collected + counts.lost == counts.begun,
                "%llu begun", (unsigned long long)counts.begun);
        REQUIRE(counts.lost < 40, "%llu lost", (unsigned long long)counts.lost);
    }
    return EXIT_SUCCESS;
}

static void *execute_always(void *argument) {
    runner *r = (runner *)argument;
    ze_command_queue_handle_t queue = open_queue(r->g);
    ze_command_list_handle_t list = open_list(r->g);
    void *memory = gpu_memory(r->g, 64);
    const int zero = 0;
    CHECK(zeCommandListAppendMemoryFill(list, memory, &zero, 1, 64, NULL, 0, NULL));
    CHECK(zeCommandListClose(list));
    while (!__atomic_load_n(r->stop, __ATOMIC_ACQUIRE)) {
        CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        CHECK(zeCommandQueueSynchronize(queue, TIMEOUT_NS));
    }
    CHECK(zeCommandListDestroy(list));
    CHECK(zeCommandQueueDestroy(queue));
    CHECK(zeMemFree(r->g->context, memory));
    return NULL;
}

/* Activating groups beside executions crashes the driver. A tracer sees the executions, and holds them for that
   moment. */
static int opening_beside_executions(const gpu *g) {
    zt_profiler *tracing = open_profiler(g, "");
    int stop = 0;
    runner r = {g, NULL, 0, &stop, 0, 0};
    trace(tracing);
    pthread_create(&r.thread, NULL, execute_always, &r);
    for (int i = 0; i < 20; i++) {
        const struct timespec moment = {0, 5000000};
        zt_profiler *profiler = open_profiler(g, NULL);
        nanosleep(&moment, NULL);
        zt_close(profiler);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(r.thread, NULL);
    CHECK(zt_trace_stop(tracing));
    zt_close(tracing);
    return EXIT_SUCCESS;
}

/* Sends the signal of ZT_AUTO_SIGNAL, and waits until tracing has begun or ended. */
static void signal_auto(int is_traced) {
    int is_done = 0;
    raise(SIGUSR2);
    while (!is_done) {
        const struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
        zt__lock_until(&zt__beginning, UINT64_MAX);
        is_done = (zt__automatic.tracer != NULL) == is_traced;
        zt__unlock_timed(&zt__beginning);
    }
}

/* The same at the begin and end of looks by ZT_AUTO_SIGNAL. Lists that were recorded in a look, with queries, are executed
   after it and in the next one. */
static int looks_beside_executions(const gpu *g) {
    enum { LOOKS = 10, EXECUTIONS = 3 };
    program nothing = open_nothing(g);
    ze_command_queue_handle_t queue = open_queue(g);
    ze_command_list_handle_t lists[LOOKS];
    int stop = 0;
    runner r = {g, NULL, 0, &stop, 0, 0};
    setenv("ZT_AUTO", "/dev/null", 1);
    setenv("ZT_AUTO_SIGNAL", "USR2", 1);
    CHECK(zt_auto(NULL));
    pthread_create(&r.thread, NULL, execute_always, &r);
    for (int look = 0; look < LOOKS; look++) {
        signal_auto(1);
        lists[look] = open_list(g);
        append_launch(lists[look], &nothing, NULL);
        CHECK(zeCommandListClose(lists[look]));
        for (int is_after = 0; is_after < 2; is_after++) {
            for (int i = 0; i < EXECUTIONS; i++) {
                for (int n = 0; n <= look; n++)
                    CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &lists[n], NULL));
                CHECK(zeCommandQueueSynchronize(queue, TIMEOUT_NS));
            }
            if (!is_after)
                signal_auto(0);
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(r.thread, NULL);
    for (int look = 0; look < LOOKS; look++)
        CHECK(zeCommandListDestroy(lists[look]));
    CHECK(zeCommandQueueDestroy(queue));
    program_unload(&nothing);
    return EXIT_SUCCESS;
}

/* ---- streams --------------------------------------------------------------------------------------------- */

typedef struct seen_rows {
    int markers, rows, wrong;
    uint64_t last_ns;
} seen_rows;

static int see_row(const zt_row *row, void *user) {
    seen_rows *seen = (seen_rows *)user;
    seen->rows++;
    seen->markers += row->marker != NULL;
    seen->wrong += row->time_ns < seen->last_ns || row->length_ns > UINT64_C(1000000000);
    seen->last_ns = row->time_ns;
    return 0;
}

static zt_stream *open_stream(const gpu *g, uint32_t period_ns) {
    zt_stream_config config = {0};
    zt_stream *stream;
    config.period_ns = period_ns;
    config.log = show_message;
    CHECK(zt_stream_open(g->context, g->device, &config, &stream));
    return stream;
}

/* A marker can be in the first report, which is the begin of the first row and the end of none. */
static int marker_at_once(const gpu *g) {
    enum { TIMES = 8 };
    immediate work = immediate_open(g);
    int found = 0;
    for (int i = 0; i < TIMES; i++) {
        zt_stream *stream = open_stream(g, 1000000);
        seen_rows seen = {0, 0, 0, 0};
        uint64_t deadline = now_ns() + UINT64_C(200000000);
        CHECK(zt_stream_mark(stream, work.list, "at once"));
        immediate_wait(&work);
        while (seen.rows < 20 && now_ns() < deadline)
            zt_stream_read(stream, UINT64_C(50000000), see_row, &seen);
        zt_stream_close(stream, see_row, &seen, NULL);
        found += seen.markers;
        REQUIRE(seen.rows >= 20 && seen.wrong == 0, "%d rows, %d wrong", seen.rows, seen.wrong);
    }
    immediate_close(&work);
    REQUIRE(found == TIMES, "%d markers of %d", found, TIMES);
    return EXIT_SUCCESS;
}

/* A stream that nobody reads overflows, and goes on: reports = rows + discarded. */
static int overflowing_stream(const gpu *g) {
    const struct timespec second = {1, 500000000};
    zt_stream *stream = open_stream(g, 50000);
    seen_rows seen = {0, 0, 0, 0};
    zt_stream_counts counts;
    uint64_t began, deadline;
    nanosleep(&second, NULL);
    zt_stream_read(stream, 0, see_row, &seen);
    began = (uint64_t)seen.rows;
    deadline = now_ns() + UINT64_C(2000000000);
    while ((uint64_t)seen.rows < began + 100 && now_ns() < deadline)
        zt_stream_read(stream, UINT64_C(50000000), see_row, &seen);
    zt_stream_close(stream, see_row, &seen, &counts);
    printf("reports %llu, rows %llu, discarded %llu, gaps %llu, dropped %llu\n",
           (unsigned long long)counts.reports, (unsigned long long)counts.rows,
           (unsigned long long)counts.discarded, (unsigned long long)counts.gaps,
           (unsigned long long)counts.dropped);
    REQUIRE(counts.reports == counts.rows + counts.discarded + counts.waiting, "reports do not add up");
    REQUIRE((uint64_t)seen.rows >= began + 100 && seen.wrong == 0, "%d rows, %d wrong", seen.rows,
            seen.wrong);
    return EXIT_SUCCESS;
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

/* ---- graphs ---------------------------------------------------------------------------------------------- */

typedef ze_result_t (*begin_capture_fn)(ze_command_list_handle_t, const void *);
typedef ze_result_t (*graph_fn)(void *, void *, void *);
typedef ze_result_t (*destroy_graph_fn)(void *);
typedef ze_result_t (*append_graph_fn)(ze_command_list_handle_t, void *, const void *, ze_event_handle_t,
                                       uint32_t, ze_event_handle_t *);

/* What a list captures runs later, each time as one sample: measured on the list that executes the graph. */
static int captured_graph(const gpu *g) {
    enum { LAUNCHES = 4, EXECUTIONS = 3 };
    zt_profiler *profiler = open_profiler(g, "");
    program nothing = open_nothing(g);
    ze_command_list_handle_t list;
    void *graph = NULL, *executable = NULL;
    begin_capture_fn begin;
    graph_fn end, instantiate;
    destroy_graph_fn destroy_executable, destroy;
    append_graph_fn append;
    zt_counts counts;
    zt_trace_counts launches;
    *(void **)&begin = dlsym(RTLD_DEFAULT, "zeCommandListBeginGraphCaptureExt");
    *(void **)&end = dlsym(RTLD_DEFAULT, "zeCommandListEndGraphCaptureExt");
    *(void **)&instantiate = dlsym(RTLD_DEFAULT, "zeGraphInstantiateExt");
    *(void **)&append = dlsym(RTLD_DEFAULT, "zeCommandListAppendGraphExt");
    *(void **)&destroy_executable = dlsym(RTLD_DEFAULT, "zeExecutableGraphDestroyExt");
    *(void **)&destroy = dlsym(RTLD_DEFAULT, "zeGraphDestroyExt");
    if (!begin) {
        printf("the loader has no graphs\n");
        return EXIT_SUCCESS;
    }
    trace(profiler);
    list = open_immediate(g, QUEUE_IN_ORDER);
    CHECK(begin(list, NULL));
    for (int i = 0; i < LAUNCHES; i++)
        append_launch(list, &nothing, NULL);
    CHECK(end(list, NULL, &graph));
    CHECK(instantiate(graph, NULL, &executable));
    zt_phase_begin("replay");
    for (int i = 0; i < EXECUTIONS; i++)
        CHECK(append(list, executable, NULL, NULL, 0, NULL));
    zt_phase_end();
    counts = collect_all(profiler);
    launches = zt_get_info(profiler).launches;
    zt_report(profiler, "-");
    CHECK(destroy_executable(executable));
    CHECK(destroy(graph));
    CHECK(zeCommandListDestroy(list));
    CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    program_unload(&nothing);
    REQUIRE(launches.unmeasured[ZT_UNMEASURED_CAPTURED].count == LAUNCHES, "%llu of 4 launches",
            (unsigned long long)launches.unmeasured[ZT_UNMEASURED_CAPTURED].count);
    REQUIRE(counts.collected == EXECUTIONS, "%llu of 3 executions", (unsigned long long)counts.collected);
    return EXIT_SUCCESS;
}

#define FAULT(name) {#name, name},

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(const gpu *g);
    } faults[] = {
        /* clang-format off */
    FAULT(event_without_pool)
    FAULT(counter_based_event)
    FAULT(stamps_of_a_reset_event)
    FAULT(half_written_stamps)
    FAULT(copies_of_stamps)
    FAULT(launch_by_pointer)
    FAULT(nested_replay)
    FAULT(undelivered_queries)
    FAULT(four_threads)
    FAULT(opening_beside_executions)
    FAULT(looks_beside_executions)
    FAULT(marker_at_once)
    FAULT(overflowing_stream)
    FAULT(captured_graph)
        /* clang-format on */
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (argc < 2) {
            puts(faults[i].name);
        } else if (strcmp(argv[1], faults[i].name) == 0) {
            gpu g = gpu_open(argv[0]);
            int status = faults[i].run(&g);
            gpu_close(&g);
            return status;
        }
    }
    return argc < 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
