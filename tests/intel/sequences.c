/* Random sequences of regions on recorded and immediate lists, on one thread or four, held against what was
   executed. It needs nothing of a device but a queue, and so runs on every driver; tests/test_sequences.c
   goes much further, on the software device.

   At any time begun = collected + lost + dropped + in_flight. When all is collected:
   - of each region, collected + lost is the number of its executions that zt_execute or a tracer has seen;
     executions that nobody has reported may be there or not
   - nothing is dropped or in flight, but regions that never ran
   - nothing is lost but what the driver itself loses: queries on immediate lists, and those around others on
     lists that are executed again
   - the memory that the work writes is right, on a device that does the work

   Usage: sequences [HOW-MANY [SEED]]       all of one seed are the same */
#include "intel.h"

#include <stdarg.h>

enum { THREADS = 4, RECORDED = 2, LISTS = RECORDED + 1, NAMES = 6, STEPS = 40, REGIONS = 6, BYTES = 256 };

typedef enum way { METRICS, TIMES, TRACED, WAYS } way;

typedef enum list_state { EMPTY, RECORDING, CLOSED, EXECUTED } list_state;

typedef struct list {
    ze_command_list_handle_t handle;
    list_state state;
    uint32_t regions[NAMES]; /* recorded, by name */
    int value;               /* last written to the memory, by this recording; -1: nothing */
    int is_nested;
    uint32_t executions; /* of this recording */
    int is_unreported;
} list;

typedef struct worker {
    const gpu *g;
    zt_profiler *profiler;
    way how;
    int index;
    uint64_t random;
    ze_command_queue_handle_t queue;
    list lists[LISTS];
    immediate done;
    uint8_t *memory;
    int expected;         /* what memory holds */
    uint64_t must[NAMES]; /* executions by name that have to be counted */
    uint64_t may[NAMES];  /* and that can be */
    uint64_t can_be_lost;
    char name[NAMES][16];
    char failure[256];
    char log[8192];
    size_t used;
} worker;

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(next_random(state) >> 32) % limit;
}

static void fail(worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(worker *w, const char *format, ...) {
    va_list values;
    va_start(values, format);
    if (!w->failure[0])
        vsnprintf(w->failure, sizeof w->failure, format, values);
    va_end(values);
}

static void note(worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(worker *w, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int wrote = vsnprintf(w->log + w->used, sizeof w->log - w->used, format, values);
    va_end(values);
    if (wrote > 0 && (size_t)wrote < sizeof w->log - w->used)
        w->used += (size_t)wrote;
}

static void check_identity(worker *w) {
    const zt_counts c = zt_get_info(w->profiler).counts;
    if (c.begun != c.collected + c.lost + c.dropped + c.in_flight)
        fail(w, "begun %llu is not collected %llu + lost %llu + dropped %llu + in flight %llu",
             (unsigned long long)c.begun, (unsigned long long)c.collected, (unsigned long long)c.lost,
             (unsigned long long)c.dropped, (unsigned long long)c.in_flight);
}

/* ---- steps ----------------------------------------------------------------------------------------------- */

static void append_work(worker *w, list *l) {
    l->value = (int)below(&w->random, 250);
    CHECK(zeCommandListAppendMemoryFill(l->handle, w->memory, &l->value, 1, BYTES, NULL, 0, NULL));
    CHECK(zeCommandListAppendBarrier(l->handle, NULL, 0, NULL));
}

/* A region around some work, and at times around others. */
static void append_region(worker *w, list *l, int depth) {
    const uint32_t name = below(&w->random, NAMES);
    zt_region region = zt_begin(w->profiler, l->handle, w->name[name]);
    append_work(w, l);
    if (depth < 2 && below(&w->random, 4) == 0) {
        append_region(w, l, depth + 1);
        l->is_nested = 1;
    }
    zt_end(&region);
    l->regions[name]++;
}

static void forget_regions(list *l) {
    memset(l->regions, 0, sizeof l->regions);
    l->value = -1;
    l->executions = 0;
    l->is_nested = l->is_unreported = 0;
}

static uint32_t count_regions(const list *l) {
    uint32_t count = 0;
    for (int i = 0; i < NAMES; i++)
        count += l->regions[i];
    return count;
}

static void append_regions(worker *w, list *l) {
    for (uint32_t i = 1 + below(&w->random, REGIONS); i > 0; i--)
        append_region(w, l, 0);
}

static int does_work; /* the device, which may be one that only seems to */

static void check_memory(worker *w, const char *after) {
    for (int i = 0; i < BYTES && does_work; i++)
        if (w->expected >= 0 && w->memory[i] != w->expected)
            fail(w, "%s: the memory holds %d, not %d", after, w->memory[i], w->expected);
}

static void wait_for_queue(worker *w) {
    CHECK(zeCommandQueueSynchronize(w->queue, TIMEOUT_NS));
    check_memory(w, "a list");
}

static void run_immediate(worker *w, list *l) {
    wait_for_queue(w);
    note(w, " immediate");
    append_regions(w, l);
    w->expected = l->value;
    CHECK(zeCommandListAppendBarrier(l->handle, w->done.done, 0, NULL));
    CHECK(zeEventHostSynchronize(w->done.done, TIMEOUT_NS));
    CHECK(zeEventHostReset(w->done.done));
    check_memory(w, "an immediate list");
    for (int i = 0; i < NAMES; i++)
        w->must[i] += l->regions[i];
    w->can_be_lost += w->how == METRICS ? count_regions(l) : 0;
    forget_regions(l);
}

/* By zt_execute, or by a plain call. A list that ran unreported is not executed by zt_execute again, for what
   is then counted is not certain. */
static void execute(worker *w, list *l) {
    const int is_plain = below(&w->random, 6) == 0;
    const int is_seen = w->how == TRACED || !is_plain;
    if (l->is_unreported)
        return;
    note(w, is_plain ? " plain" : " execute");
    if (is_plain) {
        wait_for_queue(w);
        zt_collect(w->profiler, 0);
        CHECK(zeCommandQueueExecuteCommandLists(w->queue, 1, &l->handle, NULL));
        w->expected = l->value;
        wait_for_queue(w);
    } else {
        CHECK(zt_execute(w->profiler, w->queue, 1, &l->handle, NULL));
    }
    for (int i = 0; i < NAMES; i++)
        (is_seen ? w->must : w->may)[i] += l->regions[i];
    if (!is_seen)
        l->is_unreported = 1;
    if ((l->is_nested && l->executions) || is_plain)
        w->can_be_lost += count_regions(l);
    l->executions++;
    l->state = EXECUTED;
    w->expected = l->value;
}

static void reset(worker *w, list *l) {
    note(w, " reset");
    wait_for_queue(w);
    if (l->state != EXECUTED) /* never ran: not begun, or dropped */
        for (int i = 0; i < NAMES; i++)
            w->may[i] += l->regions[i];
    if (below(&w->random, 2)) {
        CHECK(zt_reset(w->profiler, l->handle));
    } else {
        zt_release(w->profiler, l->handle);
        CHECK(zeCommandListReset(l->handle));
    }
    forget_regions(l);
    l->state = EMPTY;
}

static void close_one(worker *w, list *l) {
    note(w, " destroy");
    wait_for_queue(w);
    zt_release(w->profiler, l->handle);
    CHECK(zeCommandListDestroy(l->handle));
    if (l->state != EXECUTED)
        for (int i = 0; i < NAMES; i++)
            w->may[i] += l->regions[i];
    forget_regions(l);
    l->state = EMPTY;
}

static void take_step(worker *w) {
    list *l = &w->lists[below(&w->random, LISTS)];
    const uint32_t choice = below(&w->random, 10);
    if (choice == 0) {
        note(w, " collect");
        zt_collect(w->profiler, below(&w->random, 2) ? 0 : 1000000);
    } else if (l == &w->lists[RECORDED]) {
        run_immediate(w, l);
    } else if (l->state == EMPTY) {
        note(w, " record");
        append_regions(w, l);
        l->state = RECORDING;
    } else if (l->state == RECORDING) {
        note(w, " close");
        CHECK(zeCommandListClose(l->handle));
        l->state = CLOSED;
    } else if (choice < 7) {
        execute(w, l);
    } else if (choice < 9) {
        reset(w, l);
    } else {
        close_one(w, l);
        l->handle = open_list(w->g);
    }
}

static void *run_worker(void *argument) {
    worker *w = (worker *)argument;
    for (int i = 0; i < STEPS && !w->failure[0]; i++) {
        take_step(w);
        check_identity(w);
    }
    for (int i = 0; i < RECORDED; i++)
        close_one(w, &w->lists[i]);
    return NULL;
}

/* ---- what is counted ------------------------------------------------------------------------------------- */

static int find_info(const zt_profiler *profiler, const char *name, zt_region_info *info) {
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++)
        if (zt_get_region(profiler, i, info) == ZE_RESULT_SUCCESS && strcmp(info->name, name) == 0)
            return 1;
    return 0;
}

static void check_worker(worker *w) {
    uint64_t lost = 0;
    for (int i = 0; i < NAMES; i++) {
        zt_region_info info;
        uint64_t counted;
        if (!find_info(w->profiler, w->name[i], &info)) /* it has the region that was looked at last */
            memset(&info, 0, sizeof info);
        counted = info.count + info.lost;
        lost += info.lost;
        if (counted < w->must[i] || counted > w->must[i] + w->may[i])
            fail(w, "%s: %llu collected and %llu lost of %llu (and %llu that may be)", w->name[i],
                 (unsigned long long)info.count, (unsigned long long)info.lost,
                 (unsigned long long)w->must[i], (unsigned long long)w->may[i]);
    }
    if (lost > w->can_be_lost)
        fail(w, "%llu lost, of which the driver loses at most %llu", (unsigned long long)lost,
             (unsigned long long)w->can_be_lost);
}

static void open_worker(worker *w, const gpu *g, zt_profiler *profiler, way how, int index, uint64_t seed) {
    memset(w, 0, sizeof *w);
    w->g = g;
    w->profiler = profiler;
    w->how = how;
    w->index = index;
    w->random = seed ^ (uint64_t)index << 48;
    w->queue = open_queue(g);
    w->memory = (uint8_t *)gpu_memory(g, BYTES);
    w->expected = -1;
    w->done = immediate_open(g);
    for (int i = 0; i < RECORDED; i++)
        w->lists[i].handle = open_list(g);
    w->lists[RECORDED].handle = w->done.list;
    for (int i = 0; i < LISTS; i++)
        forget_regions(&w->lists[i]);
    for (int i = 0; i < NAMES; i++)
        snprintf(w->name[i], sizeof w->name[i], "thread %d: %d", index, i);
}

static void close_worker(worker *w) {
    zt_release(w->profiler, w->done.list);
    immediate_close(&w->done);
    CHECK(zeCommandQueueDestroy(w->queue));
    CHECK(zeMemFree(w->g->context, w->memory));
}

/* Returns whether all was right. */
static int run_sequence(const gpu *g, uint64_t seed) {
    static const char *const names[WAYS] = {"metrics", "times", "traced times"};
    static worker workers[THREADS];
    uint64_t random = seed;
    const way how = (way)below(&random, WAYS);
    const int count = below(&random, 4) == 0 ? THREADS : 1;
    zt_profiler *profiler = open_profiler(g, how == METRICS ? NULL : "");
    zt_counts counts;
    pthread_t threads[THREADS];
    int right = 1;
    if (how == TRACED) {
        zt_trace_config config = {0};
        config.no_launches = 1;
        CHECK(zt_trace_start(profiler, &config));
    }
    for (int i = 0; i < count; i++)
        open_worker(&workers[i], g, profiler, how, i, seed);
    for (int i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, run_worker, &workers[i]);
    run_worker(&workers[0]);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    zt_collect(profiler, TIMEOUT_NS);
    counts = zt_get_info(profiler).counts;
    if (counts.in_flight)
        fail(&workers[0], "%llu are in flight", (unsigned long long)counts.in_flight);
    for (int i = 0; i < count; i++) {
        check_identity(&workers[i]);
        check_worker(&workers[i]);
        if (workers[i].failure[0]) {
            printf("sequence %llu (%s), thread %d of %d: %s\n  steps:%s\n", (unsigned long long)seed,
                   names[how], i, count, workers[i].failure, workers[i].log);
            show_causes(profiler);
            right = 0;
        }
        close_worker(&workers[i]);
    }
    if (how == TRACED)
        CHECK(zt_trace_stop(profiler));
    zt_close(profiler);
    return right;
}

static int find_whether_it_works(const gpu *g) {
    immediate work = immediate_open(g);
    uint8_t *memory = (uint8_t *)gpu_memory(g, BYTES);
    const int value = 7;
    int works;
    memory[0] = 0;
    CHECK(zeCommandListAppendMemoryFill(work.list, memory, &value, 1, BYTES, NULL, 0, NULL));
    immediate_wait(&work);
    works = memory[0] == value;
    CHECK(zeMemFree(g->context, memory));
    immediate_close(&work);
    return works;
}

int main(int argc, char **argv) {
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    uint64_t wrong = 0;
    gpu g = gpu_open(argv[0]);
    does_work = find_whether_it_works(&g);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = 0; i < count && wrong < 10; i++)
        wrong += !run_sequence(&g, seed + i);
    gpu_close(&g);
    printf("%llu sequences, %llu wrong\n", (unsigned long long)count, (unsigned long long)wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
