/* A short list that is executed again and again by zt_execute, which reads each execution before the next,
   over executing it and waiting for it. By the clock, for it is a wait that is measured. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

enum { SHORT_WORK = 16 << 10 }; /* bytes that are filled: about ten microseconds */

static void append_fill(ze_command_list_handle_t list, void *memory) {
    const uint32_t pattern = 0;
    CHECK(zeCommandListAppendMemoryFill(list, memory, &pattern, sizeof pattern, SHORT_WORK, NULL, 0, NULL));
}

static void start_clock(void) {
    watch_ns -= now_ns();
}

static void stop_clock(void) {
    watch_ns += now_ns();
}

static void execute_bare(void *argument, uint32_t executions) {
    bare *b = (bare *)argument;
    for (uint32_t i = 0; i < executions; i++) {
        start_clock();
        CHECK(zeCommandQueueExecuteCommandLists(b->target.queue, 1, &b->target.list, NULL));
        CHECK(zeCommandQueueSynchronize(b->target.queue, UINT64_MAX));
        stop_clock();
        CHECK(zeEventHostReset(b->events[0]));
        CHECK(zetMetricQueryReset(b->queries[0]));
    }
}

static void execute_by_library(void *argument, uint32_t executions) {
    library *l = (library *)argument;
    start_clock();
    for (uint32_t i = 0; i < executions; i++)
        CHECK(zt_execute(l->profiler, l->target.queue, 1, &l->target.list, NULL));
    stop_clock();
    CHECK(zt_collect(l->profiler, UINT64_C(10000000000)));
}

int main(void) {
    ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    double times[2];
    void *memory;
    library l;
    bare b;
    open_gpu();
    CHECK(zeMemAllocHost(gpu.context, &desc, SHORT_WORK, 64, &memory));
    l = open_library(RECORDED);
    open_bare(&b, RECORDED);
    prepare(&b);
    ZT_REGION(l.profiler, l.target.list, "short") {
        append_fill(l.target.list, memory);
    }
    CHECK(zetCommandListAppendMetricQueryBegin(b.target.list, b.queries[0]));
    append_fill(b.target.list, memory);
    CHECK(zetCommandListAppendMetricQueryEnd(b.target.list, b.queries[0], b.events[0], 0, NULL));
    CHECK(zeCommandListClose(l.target.list));
    CHECK(zeCommandListClose(b.target.list));
    FOR_ALL_COSTS {
        put_row("execute", NULL,
                compare((work){execute_by_library, &l}, (work){execute_bare, &b}, 301, 16, times), AT_MOST,
                1.6);
        printf("# zt_execute %.1f us, execute and synchronize %.1f us\n", times[0] / 1e3, times[1] / 1e3);
    }
    unprepare(&b);
    close_bare(&b);
    close_library(&l);
    CHECK(zeMemFree(gpu.context, memory));
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
