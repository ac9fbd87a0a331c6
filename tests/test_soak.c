/* A soak: millions of regions on eight threads, randomly nested, on every kind of list, while lists are
   reset, released, destroyed and created again, and samples are collected and reported. At the end every
   region is counted where it belongs, the kernels' results are right, and nothing has grown since the middle.

   Each thread has lists and memory of its own, and adds up what it has submitted. All threads share the
   names, so that they meet in the statistics.

   ZT_REGIONS=n   so many regions, over all tests; ten million before a release */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WORKERS = 8,
    TESTS = 3,
    DEPTH = 4, /* of nesting */
    WIDTH = 3, /* names at each depth */
    NAMES = DEPTH * WIDTH,
    MOST_RECORDED = 100, /* regions of a recording, and some */
    MOST_AHEAD = 200,    /* on an immediate list, before its thread waits for the device */
    ONE_IN = 1000        /* reports of the device has an error */
};

/* ==== what is shared ====================================================================================== */

typedef enum kind { IMMEDIATE, IMMEDIATE_IN_ORDER, RECORDED, RECORDED_IN_ORDER, KINDS } kind;

typedef struct work_list {
    ze_command_list_handle_t handle;
    ze_kernel_handle_t kernel;
    ze_event_handle_t done;
    float *sums;
    kind kind;
    uint64_t launches;      /* submitted: what each sum has to be */
    uint32_t ahead;         /* regions since the device was waited for */
    uint32_t appended;      /* regions in this recording, measured or not */
    uint64_t begun[NAMES];  /* of these, those that are measured */
    uint32_t not_ended;     /* and those that nobody ends */
    uint32_t launches_each; /* of an execution */
} work_list;

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    ze_command_queue_handle_t queue;
    work_list lists[KINDS];
    uint64_t target;           /* regions until the thread ends */
    uint64_t submitted;        /* regions, each execution of a recorded one counted */
    uint64_t expected[NAMES];  /* of these, by name */
    uint64_t not_ended;        /* dropped: reset before the end */
    uint64_t refused;          /* dropped: begun on no list */
    uint64_t no_probe;         /* dropped: there was none */
    uint64_t resets, releases; /* only to be printed */
    uint64_t reports, collections;
} worker;

typedef struct soak {
    world *world;
    zt_profiler *profiler;
    ze_event_pool_handle_t events;
    worker workers[WORKERS];
} soak;

static soak *now;

static const char *const names[NAMES] = {"step", "load", "store", "solve", "copy",  "reduce",
                                         "gemm", "trsm", "axpy",  "tile",  "panel", "rest"};

static struct { int64_t bytes, blocks; } memory;

static void *allocate(size_t size, void *user) {
    size_t *block = malloc(size + 16);
    (void)user;
    if (!block)
        return NULL;
    *block = size;
    __atomic_add_fetch(&memory.bytes, (int64_t)size, __ATOMIC_RELAXED);
    __atomic_add_fetch(&memory.blocks, 1, __ATOMIC_RELAXED);
    return (char *)block + 16;
}

static void release_block(void *address, void *user) {
    size_t *block = (size_t *)(void *)((char *)address - 16);
    (void)user;
    __atomic_sub_fetch(&memory.bytes, (int64_t)*block, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&memory.blocks, 1, __ATOMIC_RELAXED);
    free(block);
}

static uint32_t below(worker *w, uint32_t limit) {
    uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32) % limit;
}

/* ==== lists =============================================================================================== */

/* ZE_COMMAND_LIST_FLAG_IN_ORDER and ZE_COMMAND_QUEUE_FLAG_IN_ORDER of newer headers. */
enum { LIST_IN_ORDER = 1 << 3, QUEUE_IN_ORDER = 1 << 1 };

static int is_immediate(const work_list *l) {
    return l->kind == IMMEDIATE || l->kind == IMMEDIATE_IN_ORDER;
}

/* The validation layer of the oldest loaders refuses a flag that it does not know: then the list has none. */
static void create(work_list *l) {
    const world *w = now->world;
    ze_result_t result;
    int in_order = l->kind == IMMEDIATE_IN_ORDER || l->kind == RECORDED_IN_ORDER;
    ze_command_queue_desc_t queue = {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     NULL,
                                     0,
                                     0,
                                     in_order ? QUEUE_IN_ORDER : 0,
                                     ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_list_desc_t recorded = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0,
                                       in_order ? LIST_IN_ORDER : 0};
    do {
        result = is_immediate(l) ? zeCommandListCreateImmediate(w->context, w->device, &queue, &l->handle)
                                 : zeCommandListCreate(w->context, w->device, &recorded, &l->handle);
        queue.flags = recorded.flags = 0;
    } while (result == ZE_RESULT_ERROR_INVALID_ENUMERATION && in_order--);
    ok_on_thread(result);
}

/* Waits until the device has done all that was submitted to the list. */
static void finish(worker *w, work_list *l) {
    if (!is_immediate(l)) {
        ok_on_thread(zeCommandQueueSynchronize(w->queue, A_WHILE));
        return;
    }
    ok_on_thread(zeCommandListAppendBarrier(l->handle, l->done, 0, NULL));
    ok_on_thread(zeEventHostSynchronize(l->done, A_WHILE));
    ok_on_thread(zeEventHostReset(l->done));
    l->ahead = 0;
}

static void release_list(const work_list *l) {
    ze_result_t result = zt_release(now->profiler, l->handle);
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) /* while another thread collects */
        note_failure("zt_release", result);
}

static void forget_recording(worker *w, work_list *l) {
    w->not_ended += l->not_ended;
    l->not_ended = l->launches_each = l->appended = 0;
    memset(l->begun, 0, sizeof l->begun);
}

/* What was recorded and never executed was taken back, and is not expected. */
static void reset(worker *w, work_list *l) {
    finish(w, l);
    w->resets++;
    if (below(w, 2)) {
        ok_on_thread(zt_reset(now->profiler, l->handle));
    } else {
        release_list(l);
        ok_on_thread(zeCommandListReset(l->handle));
    }
    forget_recording(w, l);
}

static void renew(worker *w, work_list *l) {
    finish(w, l);
    w->releases++;
    release_list(l);
    ok_on_thread(zeCommandListDestroy(l->handle));
    forget_recording(w, l);
    create(l);
}

static void execute_times(worker *w, work_list *l) {
    /* A query that never ends is not reset between two executions. */
    uint32_t times = below(w, l->not_ended ? 2 : 4);
    ok_on_thread(zeCommandListClose(l->handle));
    for (uint32_t i = 0; i < times; i++)
        ok_on_thread(zt_execute(now->profiler, w->queue, 1, &l->handle, NULL));
    l->launches += (uint64_t)times * l->launches_each;
    for (int i = 0; i < NAMES; i++) {
        w->submitted += times * l->begun[i];
        w->expected[i] += times * l->begun[i];
    }
    reset(w, l);
}

/* ==== regions ============================================================================================= */

/* Between two commands of regions there is one launch at the most, so none runs beside another of its list.
 */
static void maybe_launch(worker *w, work_list *l) {
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    if (below(w, 4))
        return;
    ok_on_thread(zeCommandListAppendLaunchKernel(l->handle, l->kernel, &groups, NULL, 0, NULL));
    ok_on_thread(zeCommandListAppendBarrier(l->handle, NULL, 0, NULL));
    if (is_immediate(l))
        l->launches++;
    else
        l->launches_each++;
}

static void count_region(worker *w, work_list *l, uint32_t name, int has_probe) {
    if (!has_probe)
        w->no_probe++;
    if (is_immediate(l)) {
        w->submitted += (uint64_t)has_probe;
        w->expected[name] += (uint64_t)has_probe;
        l->ahead++;
    } else {
        l->begun[name] += (uint64_t)has_probe;
        l->appended++;
    }
}

static void nest(worker *w, work_list *l, uint32_t depth) {
    uint32_t name = depth * WIDTH + below(w, WIDTH);
    zt_region region = zt_begin(now->profiler, l->handle, names[name]);
    int has_probe = region.probe != NULL;
    maybe_launch(w, l);
    for (uint32_t inner = below(w, 3); inner > 0 && depth + 1 < DEPTH; inner--) {
        nest(w, l, depth + 1);
        maybe_launch(w, l);
    }
    zt_end(&region);
    count_region(w, l, name, has_probe);
}

/* Some are not measured, for two reasons that are known in advance. */
static void spoil_one(worker *w, work_list *l) {
    zt_region region = zt_begin(now->profiler, is_immediate(l) ? NULL : l->handle, names[0]);
    if (is_immediate(l)) {
        zt_end(&region);
        w->refused++;
    } else if (region.probe) {
        l->not_ended++;
    } else {
        w->no_probe++;
    }
}

/* ==== what goes on beside ================================================================================= */

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

static void check_sum(void) {
    zt_counts c = zt_get_info(now->profiler).counts;
    if (c.begun != c.collected + c.lost + c.dropped + c.in_flight)
        note_failure("begun is not collected + lost + dropped + in flight", ZE_RESULT_ERROR_UNKNOWN);
}

static void ask(worker *w) {
    zt_region_info info;
    zt_stats stats;
    uint32_t count = zt_get_info(now->profiler).region_count;
    check_sum();
    if (count) {
        ok_on_thread(zt_get_region(now->profiler, below(w, count), &info));
        ok_on_thread(zt_get_stats(now->profiler, below(w, count), 0, &stats));
    }
}

static void report(worker *w) {
    w->reports++;
    ok_on_thread(zt_write(now->profiler, (zt_format)below(w, ZT_FORMAT_FOLDED + 1), discard, NULL));
}

static void collect(worker *w) {
    ze_result_t result = zt_collect(now->profiler, below(w, 2) ? 0 : below(w, 100000));
    w->collections++;
    if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY)
        note_failure("zt_collect", result);
}

static void step(worker *w) {
    work_list *l = &w->lists[below(w, KINDS)];
    uint32_t what = below(w, 1000);
    if (is_immediate(l) && l->ahead > MOST_AHEAD)
        finish(w, l);
    if (!is_immediate(l) && l->appended > MOST_RECORDED)
        execute_times(w, l);
    else if (what < 10)
        collect(w);
    else if (what < 20)
        ask(w);
    else if (what < 21)
        report(w);
    else if (what < 25)
        renew(w, l);
    else if (what < 35 && !is_immediate(l))
        reset(w, l);
    else if (what < 40)
        spoil_one(w, l);
    else
        nest(w, l, 0);
}

static void *work(void *argument) {
    worker *w = argument;
    while (w->submitted + w->no_probe < w->target && !has_noted_failure())
        step(w);
    for (int i = 0; i < KINDS; i++) {
        work_list *l = &w->lists[i];
        if (is_immediate(l)) {
            finish(w, l);
            release_list(l); /* loaders before 1.16 cannot tell that its probes are free */
        } else {
            execute_times(w, l);
        }
    }
    return NULL;
}

/* ==== before and after ==================================================================================== */

static void create_work_list(worker *w, int index) {
    world *at = now->world;
    work_list *l = &w->lists[index];
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL,
                             (uint32_t)((w - now->workers) * KINDS + index), ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *sums = NULL;
    l->kind = (kind)index;
    create(l);
    ok(zeEventCreate(now->events, &event, &l->done));
    ok(zeMemAllocHost(at->context, &host, WORK_ITEMS * sizeof(float), 64, &sums));
    memset(sums, 0, WORK_ITEMS * sizeof(float));
    l->sums = sums;
    create_kernel(at, &l->kernel);
    ok(zeKernelSetArgumentValue(l->kernel, 0, sizeof l->sums, &l->sums));
}

static void create_workers(void) {
    const world *at = now->world;
    ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                 WORKERS * KINDS};
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_device_handle_t device = at->device;
    ok(zeEventPoolCreate(at->context, &pool, 1, &device, &now->events));
    for (int i = 0; i < WORKERS; i++) {
        worker *w = &now->workers[i];
        w->random = (uint64_t)i;
        ok(zeCommandQueueCreate(at->context, at->device, &queue, &w->queue));
        for (int list = 0; list < KINDS; list++)
            create_work_list(w, list);
    }
}

static void destroy_workers(void) {
    const world *at = now->world;
    for (int i = 0; i < WORKERS; i++) {
        worker *w = &now->workers[i];
        for (int list = 0; list < KINDS; list++) {
            work_list *l = &w->lists[list];
            ok(zeKernelDestroy(l->kernel));
            ok(zeEventDestroy(l->done));
            ok(zeMemFree(at->context, l->sums));
            ok(zeCommandListDestroy(l->handle));
        }
        ok(zeCommandQueueDestroy(w->queue));
    }
    ok(zeEventPoolDestroy(now->events));
}

/* The threads go on until so many regions are submitted. Then everything is collected. */
static void run_until(uint64_t regions) {
    for (int i = 0; i < WORKERS; i++) {
        now->workers[i].target = regions / WORKERS;
        assert_int_equal(pthread_create(&now->workers[i].thread, NULL, work, &now->workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(now->workers[i].thread, NULL);
    assert_no_noted_failure();
    ok(zt_collect(now->profiler, A_WHILE));
}

/* ==== what has to be right ================================================================================ */

static void check_results(void) {
    for (int i = 0; i < WORKERS; i++)
        for (int list = 0; list < KINDS; list++) {
            const work_list *l = &now->workers[i].lists[list];
            for (uint32_t item = 0; item < WORK_ITEMS; item++)
                if (l->sums[item] != (float)l->launches)
                    fail_msg("item %u of list %d of thread %d is %g after %llu launches", item, list, i,
                             (double)l->sums[item], (unsigned long long)l->launches);
        }
}

static worker total(void) {
    worker sum;
    memset(&sum, 0, sizeof sum);
    for (int i = 0; i < WORKERS; i++) {
        const worker *w = &now->workers[i];
        sum.submitted += w->submitted;
        sum.not_ended += w->not_ended;
        sum.refused += w->refused;
        sum.no_probe += w->no_probe;
        sum.resets += w->resets;
        sum.releases += w->releases;
        sum.reports += w->reports;
        sum.collections += w->collections;
        for (int name = 0; name < NAMES; name++)
            sum.expected[name] += w->expected[name];
    }
    return sum;
}

/* Every region is where it belongs: by cause, and by name. */
static void check_counters(void) {
    worker sum = total();
    zt_counts c = zt_get_info(now->profiler).counts;
    check_identity(now->profiler);
    assert_int_equal(c.in_flight, 0);
    assert_int_equal(c.unobserved_lists, 0);
    assert_int_equal(c.collected + c.lost, sum.submitted);
    assert_int_equal(c.lost, zt_get_info(now->profiler).causes[ZT_LOST_REPORT_LOST].count);
    assert_true(c.lost + 1 >= sum.submitted / ONE_IN && c.lost <= sum.submitted / ONE_IN + 1);
    assert_int_equal(zt_get_info(now->profiler).causes[ZT_DROPPED_NOT_CLOSED].count, sum.not_ended);
    assert_int_equal(zt_get_info(now->profiler).causes[ZT_DROPPED_APPEND_FAILED].count, sum.refused);
    assert_int_equal(zt_get_info(now->profiler).causes[ZT_DROPPED_NO_PROBE].count, sum.no_probe);
    assert_int_equal(c.dropped, sum.not_ended + sum.refused + sum.no_probe);
    for (int name = 0; name < NAMES; name++) {
        zt_region_info info = region_info(now->profiler, names[name]);
        zt_stats times = stats_of(now->profiler, names[name], "GpuTime");
        assert_int_equal(info.count + info.lost, sum.expected[name]);
        assert_int_equal(times.count, info.count);
        assert_true(times.min > 0 && info.time_ns.min == times.min);
    }
}

/* ==== the tests =========================================================================================== */

static uint64_t wanted_regions(void) {
    const char *wanted = getenv("ZT_REGIONS");
    return (wanted ? strtoull(wanted, NULL, 10) : OFTEN(150000)) / TESTS;
}

static void open_soak(world *at, const zt_config *changed) {
    zt_config config = *changed;
    now = test_calloc(1, sizeof *now);
    now->world = at;
    memset(&memory, 0, sizeof memory);
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    gpu.behave(SOFTGPU_HANDLES_COME_BACK, 1);
    gpu.behave(SOFTGPU_REPORT_LOST, ONE_IN);
    create_workers();
    config.groups = "ComputeBasic";
    config.timeline = 1024;
    config.allocator.allocate = allocate;
    config.allocator.release = release_block;
    now->profiler = open_profiler(at, &config);
}

static void close_soak(void) {
    check_counters();
    check_results();
    close_profiler(now->world, now->profiler);
    assert_int_equal(memory.blocks, 0);
    destroy_workers();
    test_free(now);
}

/* Probes are made as they are needed, up to config.max_probes, and that is all that may grow for a while. */
static void soak_flat(world *at, const zt_config *config) {
    enum { MOST_BYTES = 8 << 20, MOST_RESIDENT = 32 << 20 };
    uint64_t regions = wanted_regions();
    open_soak(at, config);
    run_until(regions / 2);
    int64_t bytes = memory.bytes, resident = resident_size();
    run_until(regions);
    int64_t more_bytes = memory.bytes - bytes, more_resident = resident_size() - resident;
    worker sum = total();
    print_message("%llu regions, %llu lost: %llu resets, %llu releases, %llu collections, %llu reports; "
                  "%lld bytes, of which %lld since the middle; %lld resident, %lld since the middle\n",
                  (unsigned long long)sum.submitted,
                  (unsigned long long)zt_get_info(now->profiler).counts.lost, (unsigned long long)sum.resets,
                  (unsigned long long)sum.releases, (unsigned long long)sum.collections,
                  (unsigned long long)sum.reports, (long long)memory.bytes, (long long)more_bytes,
                  (long long)(resident + more_resident), (long long)more_resident);
    assert_true(more_bytes < MOST_BYTES);
    assert_true(more_resident < MOST_RESIDENT);
    assert_int_equal(sum.no_probe, 0);
    close_soak();
}

static void test_soak(void **state) {
    zt_config config = config_of(*state);
    soak_flat(*state, &config);
}

static void test_soak_with_a_thread(void **state) {
    zt_config config = config_of(*state);
    config.thread = 1;
    soak_flat(*state, &config);
}

/* Recorded lists alone need many more probes than there are. What has none is dropped and counted; when probes
   are free again, regions are measured as before. */
static void test_soak_with_few_probes(void **state) {
    world *at = *state;
    zt_config config = config_of(at);
    config.probes_per_step = 16;
    config.max_probes = 128;
    open_soak(at, &config);
    run_until(wanted_regions());
    worker sum = total();
    print_message("%llu regions, and %llu for which there was no probe\n", (unsigned long long)sum.submitted,
                  (unsigned long long)sum.no_probe);
    assert_true(sum.no_probe > 0 && sum.submitted > 0);
    now->workers[0].submitted += config.max_probes;
    now->workers[0].expected[0] += config.max_probes;
    for (uint32_t i = 0; i < config.max_probes; i++)
        append(at, now->profiler, at->list, names[0]);
    ok(zeCommandListClose(at->list));
    ok(zt_execute(now->profiler, at->queue, 1, &at->list, NULL));
    finish_queue(at);
    ok(zt_reset(now->profiler, at->list));
    collect_all(now->profiler);
    close_soak();
}

int main(void) {
    const struct CMUnitTest tests[TESTS] = {
        TEST(test_soak),
        TEST(test_soak_with_a_thread),
        TEST(test_soak_with_few_probes),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
