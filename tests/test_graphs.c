/* Graphs: what a list captures runs when it is appended as an executable graph, and is measured as one. */
#define _GNU_SOURCE
#include "meet.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== two ways to the functions =========================================================================== */

/* New loaders export them with names that end on Ext; drivers have others that end on Exp, with other orders of the
   parameters. */
typedef enum route { LOADER, POINTER } route;

typedef ze_result_t (*create_graph)(ze_context_handle_t, const void *, const void *);
typedef ze_result_t (*begin_capture)(ze_command_list_handle_t, const void *);
typedef ze_result_t (*begin_capture_into)(ze_command_list_handle_t, void *, const void *);
typedef ze_result_t (*three_pointers)(void *, void *, void *);
typedef ze_result_t (*append_graph)(ze_command_list_handle_t, void *, const void *, ze_event_handle_t,
                                    uint32_t, ze_event_handle_t *);
typedef ze_result_t (*destroy_graph)(void *);

static struct {
    route way;
    create_graph create;
    begin_capture begin;
    begin_capture_into begin_into;
    three_pointers end, instantiate;
    append_graph append;
    destroy_graph destroy_executable, destroy;
} api;

static void find_function(world *w, const char *by_loader, const char *by_pointer, void *function) {
    void *found = NULL;
    if (api.way == LOADER)
        found = dlsym(RTLD_DEFAULT, by_loader);
    else
        ok(zeDriverGetExtensionFunctionAddress(w->driver, by_pointer, &found));
    assert_non_null(found);
    memcpy(function, &found, sizeof found);
}

static route need_way(route way) {
    if (way == LOADER && !dlsym(RTLD_DEFAULT, "zeGraphCreateExt")) {
        puts("skipped: this loader has no graphs");
        skip();
    }
    if (way == POINTER && loader_wraps_handles()) {
        puts("skipped: pointers of the driver need its own handles");
        skip();
    }
    return way;
}

/* Called while tracing, because pointers from before are not seen. */
static void find_graphs(world *w, route chosen) {
    api.way = chosen;
    find_function(w, "zeGraphCreateExt", "zeGraphCreateExp", &api.create);
    find_function(w, "zeCommandListBeginGraphCaptureExt", "zeCommandListBeginGraphCaptureExp", &api.begin);
    find_function(w, "zeCommandListBeginCaptureIntoGraphExt", "zeCommandListBeginCaptureIntoGraphExp",
                  &api.begin_into);
    find_function(w, "zeCommandListEndGraphCaptureExt", "zeCommandListEndGraphCaptureExp", &api.end);
    find_function(w, "zeGraphInstantiateExt", "zeCommandListInstantiateGraphExp", &api.instantiate);
    find_function(w, "zeCommandListAppendGraphExt", "zeCommandListAppendGraphExp", &api.append);
    find_function(w, "zeExecutableGraphDestroyExt", "zeExecutableGraphDestroyExp", &api.destroy_executable);
    find_function(w, "zeGraphDestroyExt", "zeGraphDestroyExp", &api.destroy);
}

static void *end_capture(ze_command_list_handle_t list) {
    void *graph = NULL;
    ok(api.way == LOADER ? api.end(list, NULL, &graph) : api.end(list, &graph, NULL));
    return graph;
}

static ze_result_t instantiate(void *graph, void **executable) {
    return api.way == LOADER ? api.instantiate(graph, NULL, executable)
                             : api.instantiate(graph, executable, NULL);
}

static void *executable_of(void *graph) {
    void *executable = NULL;
    ok(instantiate(graph, &executable));
    return executable;
}

static void append_executable(ze_command_list_handle_t list, void *executable) {
    ok(api.append(list, executable, NULL, NULL, 0, NULL));
}

/* Captures launches of the world's kernel. Each execution adds their number to w->launches, which is the caller's. */
static void *capture_launches(world *w, ze_command_list_handle_t list, uint32_t count) {
    ok(api.begin(list, NULL));
    for (uint32_t i = 0; i < count; i++)
        launch_kernel(list, w->kernel);
    return end_capture(list);
}

static void destroy_both(void *graph, void *executable) {
    ok(api.destroy_executable(executable));
    ok(api.destroy(graph));
}

/* ==== what is measured ==================================================================================== */

static zt_profiler *open_traced(world *w, const char *groups, const zt_trace_config *config) {
    zt_config of_profiler = config_of(w);
    of_profiler.groups = groups;
    zt_profiler *profiler = open_profiler(w, &of_profiler);
    ok(zt_trace_start(profiler, config));
    return profiler;
}

static void expect_launches(const zt_profiler *profiler, uint64_t measured, uint64_t filtered,
                            uint64_t captured) {
    zt_trace_counts counts = zt_get_info(profiler).launches;
    assert_int_equal(counts.measured, measured);
    assert_int_equal(counts.filtered, filtered);
    assert_int_equal(counts.unmeasured[ZT_UNMEASURED_CAPTURED].count, captured);
    assert_int_equal(counts.elsewhere, captured);
    assert_int_equal(counts.launches, measured + filtered + captured);
}

static uint64_t launches_of(const zt_profiler *profiler, const char *kernel) {
    for (uint32_t i = 0; i < zt_get_info(profiler).kernel_count; i++) {
        zt_kernel_info info;
        ok(zt_get_kernel(profiler, i, &info));
        if (strcmp(info.name, kernel) == 0)
            return info.launches;
    }
    return 0;
}

static uint64_t samples_of(const zt_profiler *profiler, const char *region) {
    return find_region(profiler, region) == UINT32_MAX ? 0 : region_info(profiler, region).count;
}

/* ---- the device alone ------------------------------------------------------------------------------------ */

static void run_a_graph(world *w, route way) {
    ze_event_handle_t event = new_event(w, 1), gate = new_event(w, 2);
    void *graph, *executables[2], *none;
    find_graphs(w, way);
    ok(api.begin(w->immediate, NULL));
    launch_kernel(w->immediate, w->kernel);
    ok(zeCommandListAppendBarrier(w->immediate, NULL, 0, NULL));
    launch_kernel(w->immediate, w->kernel);
    assert_int_not_equal(api.begin(w->immediate, NULL), ZE_RESULT_SUCCESS);
    graph = end_capture(w->immediate);
    finish_immediate(w, w->immediate);
    check_work(w); /* nothing has run */
    executables[0] = executable_of(graph);
    executables[1] = executable_of(graph);
    for (int i = 0; i < 6; i++) {
        append_executable(w->immediate, executables[i % 2]);
        w->launches += 2;
    }
    ok(api.append(w->immediate, executables[0], NULL, event, 1, &gate));
    w->launches += 2;
    assert_int_equal(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    ok(zeEventHostSignal(gate));
    ok(zeEventHostSynchronize(event, A_WHILE));
    check_work(w);
    finish_immediate(w, w->immediate);
    ok(api.destroy_executable(executables[1]));
    destroy_both(graph, executables[0]);
    if (!loader_wraps_handles())
        assert_int_equal(instantiate(graph, &none), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);

    /* into a graph that was created before */
    ok(way == LOADER ? api.create(w->context, NULL, &graph) : api.create(w->context, &graph, NULL));
    assert_int_not_equal(instantiate(graph, &none), ZE_RESULT_SUCCESS);
    ok(api.begin_into(w->immediate, graph, NULL));
    launch_kernel(w->immediate, w->kernel);
    assert_ptr_equal(end_capture(w->immediate), graph);
    executables[0] = executable_of(graph);
    append_executable(w->immediate, executables[0]);
    w->launches++;
    finish_immediate(w, w->immediate);
    check_work(w);
    destroy_both(graph, executables[0]);
    ok(zeEventDestroy(event));
    ok(zeEventDestroy(gate));
}

/* ---- one region each ------------------------------------------------------------------------------------- */

static void measure_a_graph(world *w, route way, const char *groups) {
    enum { EXECUTIONS = 5 };
    zt_profiler *profiler = open_traced(w, groups, NULL);
    find_graphs(w, way);
    void *graph = capture_launches(w, w->immediate, 3), *executable = executable_of(graph);
    launch(w, w->immediate);
    for (int i = 0; i < EXECUTIONS; i++) {
        append_executable(w->immediate, executable);
        w->launches += 3;
    }
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    check_work(w);
    expect_launches(profiler, EXECUTIONS + 1, 0, 3);
    assert_counts(profiler, counted(EXECUTIONS + 1, EXECUTIONS + 1, 0, 0, 0));
    zt_region_info info = region_info(profiler, "graph 1 (saxpy x3)");
    assert_int_equal(info.count, EXECUTIONS);
    assert_int_equal(info.with_metrics, *groups ? EXECUTIONS : 0);
    assert_true(info.time_ns.min > 0);
    assert_int_equal(region_info(profiler, "saxpy").count, 1);
    assert_int_equal(launches_of(profiler, "saxpy"), 4);
    static const zt_format formats[] = {ZT_FORMAT_TABLE, ZT_FORMAT_JSON, ZT_FORMAT_HTML, ZT_FORMAT_CSV};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *report = written_report(profiler, formats[i]);
        assert_contains(report, "graph 1 (saxpy x3)");
        assert_contains(report, "3 of 9 launches were captured into graphs");
        assert_null(strstr(report, "could not be measured"));
        assert_null(strstr(report, "through a pointer"));
    }
    assert_contains(written_report(profiler, ZT_FORMAT_OPENMETRICS),
                    "unmeasured_launches_total{cause=\"graph\"} 3");
    destroy_both(graph, executable);
}

static void measure_with_metrics(world *w, route way) {
    measure_a_graph(w, way, "ComputeBasic");
}

static void measure_times_alone(world *w, route way) {
    measure_a_graph(w, way, "");
}

/* On lists that are in order and that are not, with events to signal and to wait for. The time is that of the whole
   graph, without the wait before. */
static void measure_on(world *w, route way, const char *groups, uint32_t flags, uint32_t has_events) {
    rig r = open_concurrent(w);
    ze_command_list_handle_t list;
    ze_event_handle_t gate = new_event(w, 1), event = new_event(w, 2);
    zt_profiler *profiler = open_traced(w, groups, NULL);
    uint64_t inside, before;
    find_graphs(w, way);
    list = immediate_of(w, COMPUTE, 0, flags);
    ok(api.begin(list, NULL));
    append_plain(&r, list, 2);
    append_meeting(&r, list, 0, 1, LONG);
    launch_kernel(list, w->kernel);
    void *graph = end_capture(list), *executable = executable_of(graph);
    before = now_ns();
    ok(api.append(list, executable, NULL, has_events ? event : NULL, has_events, &gate));
    w->launches++;
    if (has_events) {
        for (int i = 0; i < 30; i++)
            nap();
        assert_int_equal(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
        assert_int_equal(word(&r, 0), NOTHING);
        before = now_ns();
        ok(zeEventHostSignal(gate));
    }
    await_word(&r, 0);
    inside = now_ns();
    nap();
    nap();
    inside = now_ns() - inside;
    set_word(&r, 1);
    if (has_events)
        ok(zeEventHostSynchronize(event, A_WHILE));
    finish_immediate(w, list);
    before = now_ns() - before;
    collect_all(profiler);
    expect_launches(profiler, 1, 0, 3);
    expect_serialised(profiler, ZT_SERIALISED_GRAPH, !*groups && !flags, "they are graphs");
    assert_counts(profiler, counted(1, 1, 0, 0, 0));
    zt_region_info info = region_info(profiler, "graph 1 (meet x2, saxpy)");
    assert_int_equal(info.count, 1);
    assert_true(info.time_ns.min >= 0.99 * (double)inside);
    assert_true(info.time_ns.max <= 1.01 * (double)before);
    check_work(w);
    destroy_both(graph, executable);
    ok(zeCommandListDestroy(list));
    ok(zeEventDestroy(gate));
    ok(zeEventDestroy(event));
    close_profiler(w, profiler);
    close_rig(&r);
}

static void measure_on_lists(world *w, route way) {
    static const char *const groups[] = {"ComputeBasic", ""};
    need_in_order_lists(w);
    for (uint32_t i = 0; i < 8; i++)
        measure_on(w, way, groups[i & 1], i & 2 ? QUEUE_IN_ORDER : 0, i >> 2);
}

/* ---- phases ---------------------------------------------------------------------------------------------- */

static uint64_t samples_in(const zt_profiler *profiler, const char *path) {
    zt_region_info info;
    ok(zt_get_region(profiler, zt_find_path(profiler, path), &info));
    return info.count;
}

static void measure_in_phases(world *w, route way) {
    zt_profiler *profiler = open_traced(w, "ComputeBasic", NULL);
    find_graphs(w, way);
    zt_phase_begin("capture");
    void *graph = capture_launches(w, w->immediate, 2), *executable = executable_of(graph);
    zt_phase_end();
    for (int i = 0; i < 5; i++) {
        zt_phase_begin(i < 2 ? "warm-up" : "solve");
        append_executable(w->immediate, executable);
        zt_phase_end();
        w->launches += 2;
    }
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    assert_int_equal(samples_in(profiler, "warm-up;graph 1 (saxpy x2)"), 2);
    assert_int_equal(samples_in(profiler, "solve;graph 1 (saxpy x2)"), 3);
    assert_int_equal(samples_of(profiler, "graph 1 (saxpy x2)"), 5);
    assert_counts(profiler, counted(5, 5, 0, 0, 0));
    check_work(w);
    destroy_both(graph, executable);
}

/* ---- names ----------------------------------------------------------------------------------------------- */

static void execute_executable(world *w, void *executable, uint32_t launches) {
    append_executable(w->immediate, executable);
    w->launches += launches;
    finish_immediate(w, w->immediate);
}

/* By the order in which they were instantiated. One that takes the place of a destroyed one with the same kernels has
   its name, so that a program which instantiates its graph again and again has one row. */
static void name_graphs(world *w, route way) {
    enum { AT_ONCE = 4 };
    zt_profiler *profiler = open_traced(w, "", NULL);
    void *executables[AT_ONCE];
    find_graphs(w, way);
    void *graph = capture_launches(w, w->immediate, 2), *other = capture_launches(w, w->immediate, 1);
    void *between = executable_of(other);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < AT_ONCE; i++)
            executables[i] = executable_of(graph);
        for (int i = AT_ONCE; i-- > 0;)
            for (int j = 0; j <= i; j++)
                execute_executable(w, executables[i], 2);
        for (int i = AT_ONCE; i-- > 0;)
            ok(api.destroy_executable(executables[i]));
    }
    execute_executable(w, between, 1);
    ok(api.destroy_executable(between));
    collect_all(profiler);
    assert_int_equal(samples_of(profiler, "graph 1 (saxpy)"), 1);
    assert_int_equal(samples_of(profiler, "graph 2 (saxpy x2)"), 3);
    assert_int_equal(samples_of(profiler, "graph 3 (saxpy x2)"), 6);
    assert_int_equal(samples_of(profiler, "graph 4 (saxpy x2)"), 9);
    assert_int_equal(samples_of(profiler, "graph 5 (saxpy x2)"), 12);
    assert_int_equal(zt_get_info(profiler).region_count, 5);
    check_work(w);
    ok(api.destroy(graph));
    ok(api.destroy(other));
}

/* Of those that were captured or instantiated while nothing was traced, the kernels are not known. */
static void name_unseen_graphs(world *w, route way) {
    zt_profiler *profiler = open_traced(w, "ComputeBasic", NULL);
    find_graphs(w, way);
    ok(zt_trace_stop(profiler));
    void *graph = capture_launches(w, w->immediate, 1), *executable = executable_of(graph);
    execute_executable(w, executable, 1);
    ok(zt_trace_start(profiler, NULL));
    void *later = executable_of(graph);
    for (int i = 0; i < 2; i++) {
        execute_executable(w, executable, 1);
        execute_executable(w, later, 1);
    }
    collect_all(profiler);
    assert_int_equal(samples_of(profiler, "graph 1"), 2);
    assert_int_equal(samples_of(profiler, "graph 2"), 2);
    expect_launches(profiler, 4, 0, 0);
    check_work(w);
    ok(api.destroy_executable(later));
    destroy_both(graph, executable);
}

/* As if kernels had a name that is longer than what a graph's shows of it. */
static const char *long_name;

ze_result_t ZE_APICALL zeKernelGetName(ze_kernel_handle_t kernel, size_t *size, char *name) {
    if (!long_name)
        return REAL(zeKernelGetName)(kernel, size, name);
    if (name)
        strcpy(name, long_name);
    *size = strlen(long_name) + 1;
    return ZE_RESULT_SUCCESS;
}

static ze_kernel_handle_t hot_kernel(ze_module_handle_t module, const char *name, uint32_t **words) {
    const uint32_t rounds = 1;
    ze_kernel_handle_t kernel = kernel_in(module, name);
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof *words, words));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof rounds, &rounds));
    return kernel;
}

/* There is room for four kernels, whose names are demangled and cut. */
static void name_many_kernels(world *w, route way) {
    enum { KERNELS = 5 };
    zt_profiler *profiler = open_traced(w, "", NULL);
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ze_module_handle_t module = load_module(w, "build/kernels/hot.so", "");
    ze_kernel_handle_t kernels[KERNELS];
    uint32_t *words;
    find_graphs(w, way);
    ok(zeMemAllocHost(w->context, &host, 4096, 64, (void **)&words));
    memset(words, 0, 4096);
    kernels[0] = hot_kernel(module, "spin", &words);
    long_name = "a_name_of_more_than_twenty_four_bytes";
    kernels[1] = hot_kernel(module, "hot", &words);
    long_name = "_Z5scalePf";
    kernels[2] = hot_kernel(module, "hot", &words);
    long_name = NULL;
    kernels[3] = hot_kernel(module, "hot", &words);
    kernels[4] = hot_kernel(module, "warm", &words);
    ok(api.begin(w->immediate, NULL));
    for (int i = 0; i < KERNELS; i++)
        for (int j = 0; j <= i; j++)
            launch_kernel(w->immediate, kernels[i]);
    launch_kernel(w->immediate, w->kernel);
    launch_kernel(w->immediate, kernels[0]);
    void *graph = end_capture(w->immediate), *executable = executable_of(graph);
    execute_executable(w, executable, 1);
    collect_all(profiler);
    assert_int_equal(samples_of(profiler,
                                "graph 1 (spin x2, a_name_of_more_than_twen... x2, scale(float*) x3, "
                                "hot x4, +6 launches)"),
                     1);
    expect_launches(profiler, 1, 0, 17);
    assert_int_equal(launches_of(profiler, "warm"), 5);
    destroy_both(graph, executable);
    for (int i = 0; i < KERNELS; i++)
        ok(zeKernelDestroy(kernels[i]));
    ok(zeModuleDestroy(module));
    ok(zeMemFree(w->context, words));
    check_work(w);
}

/* ---- which graphs ---------------------------------------------------------------------------------------- */

/* A graph is chosen by the kernels that it launches, and one of which none is known always is. */
static void choose_graphs(world *w, route way) {
    static const struct {
        const char *names;
        int is_chosen;
    } cases[] = {{"saxpy", 1}, {"reduce", 0}, {"!saxpy", 0}, {"graph*", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zt_trace_config config = {0};
        config.names = cases[i].names;
        zt_profiler *profiler = open_traced(w, "", &config);
        find_graphs(w, way);
        void *graph = capture_launches(w, w->immediate, 1), *executable = executable_of(graph);
        execute_executable(w, executable, 1);
        execute_executable(w, executable, 1);
        collect_all(profiler);
        expect_launches(profiler, cases[i].is_chosen ? 2 : 0, cases[i].is_chosen ? 0 : 2, 1);
        assert_int_equal(samples_of(profiler, "graph 1 (saxpy)"), cases[i].is_chosen ? 2 : 0);
        destroy_both(graph, executable);
        close_profiler(w, profiler);
    }
    check_work(w);
}

/* Every second execution has metrics, as every second launch of a kernel. */
static void choose_executions(world *w, route way) {
    zt_trace_config config = {0};
    config.every = 2;
    zt_profiler *profiler = open_traced(w, "ComputeBasic", &config);
    find_graphs(w, way);
    void *graph = capture_launches(w, w->immediate, 1), *executable = executable_of(graph);
    for (int i = 0; i < 4; i++)
        execute_executable(w, executable, 1);
    collect_all(profiler);
    zt_region_info info = region_info(profiler, "graph 1 (saxpy)");
    assert_int_equal(info.count, 4);
    assert_int_equal(info.with_metrics, 2);
    check_work(w);
    destroy_both(graph, executable);
}

/* ---- what fails ------------------------------------------------------------------------------------------ */

static void refuse_calls(world *w, route way) {
    zt_profiler *profiler = open_traced(w, "ComputeBasic", NULL);
    void *executable = NULL;
    find_graphs(w, way);
    void *graph = capture_launches(w, w->immediate, 1);
    const char *const names[] = {way == LOADER ? "zeGraphInstantiateExt" : "zeCommandListInstantiateGraphExp",
                                 way == LOADER ? "zeCommandListAppendGraphExt"
                                               : "zeCommandListAppendGraphExp"};
    inject(names[0], 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(instantiate(graph, &executable), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    executable = executable_of(graph);
    inject(names[1], 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(api.append(w->immediate, executable, NULL, NULL, 0, NULL),
                  ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    execute_executable(w, executable, 1);
    collect_all(profiler);
    expect_launches(profiler, 2, 0, 1);
    assert_counts(profiler, counted(2, 1, 0, 1, 0));
    assert_int_equal(samples_of(profiler, "graph 1 (saxpy)"), 1);
    check_work(w);
    destroy_both(graph, executable);
}

/* Without memory for what is known of a graph, it runs all the same. */
static void lack_memory(world *w, route way) {
    uint64_t unnamed = 0;
    for (int room = 0; room < 8; room++) {
        zt_config config = config_of(w);
        config.groups = "";
        config.allocator = scarce_allocator();
        zt_profiler *profiler = open_profiler(w, &config);
        ok(zt_trace_start(profiler, NULL));
        find_graphs(w, way);
        ok(api.begin(w->immediate, NULL));
        launch_kernel(w->immediate, w->kernel);
        allocations_left = room;
        void *graph = end_capture(w->immediate), *executable = executable_of(graph);
        execute_executable(w, executable, 1);
        allocations_left = -1;
        execute_executable(w, executable, 1);
        destroy_both(graph, executable);
        zt_trace_counts counts = zt_get_info(profiler).launches;
        assert_int_equal(counts.launches, 3);
        assert_int_equal(counts.measured + counts.elsewhere, 3);
        uint64_t count = counts.unmeasured[ZT_UNMEASURED_NO_MEMORY].count;
        unnamed += count;
        if (count)
            expect_unmeasured(profiler, ZT_UNMEASURED_NO_MEMORY, count,
                              "could not be measured, because there was no memory");
        check_identity(profiler);
        close_profiler(w, profiler);
    }
    assert_true(unnamed > 0);
    check_work(w);
}

/* ---- captures -------------------------------------------------------------------------------------------- */

/* Launches on a list that joins a capture go into the graph, if the loader can tell which lists do. */
static void join_a_capture(world *w, route way) {
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_event_handle_t fork = new_event(w, 1), join = new_event(w, 2);
    ze_command_list_handle_t joins;
    create_immediate(w, &joins);
    zt_profiler *profiler = open_traced(w, "ComputeBasic", NULL);
    find_graphs(w, way);
    int can_tell = dlsym(RTLD_DEFAULT, "zeCommandListIsGraphCaptureEnabledExt") != NULL;
    ok(api.begin(w->immediate, NULL));
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, fork, 0, NULL));
    ok(zeCommandListAppendLaunchKernel(joins, w->kernel, &groups, NULL, 1, &fork));
    ok(zeCommandListAppendLaunchKernel(joins, w->kernel, &groups, join, 0, NULL));
    ok(zeCommandListAppendLaunchKernel(w->immediate, w->kernel, &groups, NULL, 1, &join));
    void *graph = end_capture(w->immediate), *executable = executable_of(graph);
    for (int i = 0; i < 2; i++) {
        execute_executable(w, executable, 4);
        ok(zeEventHostReset(fork));
        ok(zeEventHostReset(join));
    }
    launch(w, joins);
    finish_immediate(w, joins);
    collect_all(profiler);
    zt_trace_counts counts = zt_get_info(profiler).launches;
    assert_int_equal(counts.measured, 3);
    assert_int_equal(counts.elsewhere, 4);
    assert_int_equal(counts.unmeasured[ZT_UNMEASURED_CAPTURED].count, can_tell ? 4 : 2);
    assert_int_equal(counts.unmeasured[ZT_UNMEASURED_CAPTURE_UNKNOWN].count, can_tell ? 0 : 2);
    assert_int_equal(samples_of(profiler, can_tell ? "graph 1 (saxpy x4)" : "graph 1 (saxpy x2)"), 2);
    assert_int_equal(launches_of(profiler, "saxpy"), 5);
    assert_counts(profiler, counted(3, 3, 0, 0, 0));
    check_work(w);
    destroy_both(graph, executable);
    ok(zeEventDestroy(fork));
    ok(zeEventDestroy(join));
    ok(zeCommandListDestroy(joins));
}

/* Captures on two lists at a time, of which each has its own kernels. */
static void capture_two(world *w, route way) {
    ze_command_list_handle_t beside;
    void *graphs[2], *executables[2];
    zt_profiler *profiler = open_traced(w, "", NULL);
    find_graphs(w, way);
    create_immediate(w, &beside);
    ok(api.begin(w->immediate, NULL));
    ok(api.begin(beside, NULL));
    launch_kernel(beside, w->kernel);
    launch_kernel(w->immediate, w->kernel);
    launch_kernel(beside, w->kernel);
    graphs[0] = end_capture(beside);
    launch_kernel(w->immediate, w->kernel);
    launch_kernel(w->immediate, w->kernel);
    graphs[1] = end_capture(w->immediate);
    for (int i = 0; i < 2; i++) {
        executables[i] = executable_of(graphs[i]);
        execute_executable(w, executables[i], i == 0 ? 2 : 3);
    }
    collect_all(profiler);
    assert_int_equal(samples_of(profiler, "graph 1 (saxpy x2)"), 1);
    assert_int_equal(samples_of(profiler, "graph 2 (saxpy x3)"), 1);
    expect_launches(profiler, 2, 0, 5);
    check_work(w);
    for (int i = 0; i < 2; i++)
        destroy_both(graphs[i], executables[i]);
    ok(zeCommandListDestroy(beside));
}

/* Recorded lists that are appended to a captured one become part of the graph. */
static void capture_recorded_lists(world *w, route way) {
    ze_result_t (*append_lists)(ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *,
                                ze_event_handle_t, uint32_t, ze_event_handle_t *);
    find_graphs(w, way);
    find_function(w, "zeCommandListImmediateAppendCommandListsExp",
                  "zeCommandListImmediateAppendCommandListsExp", &append_lists);
    launch_kernel(w->list, w->kernel);
    launch_kernel(w->list, w->kernel);
    ok(zeCommandListClose(w->list));
    ok(api.begin(w->immediate, NULL));
    launch_kernel(w->immediate, w->kernel);
    ok(append_lists(w->immediate, 1, &w->list, NULL, 0, NULL));
    void *graph = end_capture(w->immediate), *executable = executable_of(graph);
    for (int i = 0; i < 3; i++)
        execute_executable(w, executable, 3);
    check_work(w);
    destroy_both(graph, executable);
}

/* ---- all, in both ways ----------------------------------------------------------------------------------- */

#define BOTH_WAYS(X)                                                                                         \
    X(run_a_graph)                                                                                           \
    X(measure_with_metrics)                                                                                  \
    X(measure_times_alone)                                                                                   \
    X(measure_on_lists)                                                                                      \
    X(measure_in_phases)                                                                                     \
    X(name_graphs)                                                                                           \
    X(name_unseen_graphs)                                                                                    \
    X(name_many_kernels)                                                                                     \
    X(choose_graphs)                                                                                         \
    X(choose_executions)                                                                                     \
    X(refuse_calls)                                                                                          \
    X(lack_memory)                                                                                           \
    X(join_a_capture)                                                                                        \
    X(capture_two)                                                                                           \
    X(capture_recorded_lists)

#define X(function)                                                                                          \
    static void test_##function##_by_loader(void **state) {                                                  \
        function(*state, need_way(LOADER));                                                                  \
    }                                                                                                        \
    static void test_##function##_by_pointer(void **state) {                                                 \
        function(*state, need_way(POINTER));                                                                 \
    }
BOTH_WAYS(X)
#undef X

int main(void) {
    const struct CMUnitTest tests[] = {
#define X(function) TEST(test_##function##_by_loader), TEST(test_##function##_by_pointer),
        BOTH_WAYS(X)
#undef X
    };
    return cmocka_run_group_tests_name("tests", tests, start_traced, NULL);
}
