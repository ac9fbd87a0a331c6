/* The time that the submitting thread loses a region, where calls cost what a real driver's cost: by hand,
   with batched calculation, and with calculation left to another thread. */
#define ZETOOLS_IMPLEMENTATION
#include "by_hand.h"

/* Proportions of a real driver's calls, in nanoseconds. A calculation costs so much, and a report in it. */
enum {
    QUERY_BEGIN = 4000,
    QUERY_END = 1400,
    GET_DATA = 300,
    CALCULATION = 3500,
    REPORT = 2300,
    PROPERTIES = 250,
    EVENT_RESET = 40
};

static void slow_down(void) {
    gpu.set_call_cost("zetCommandListAppendMetricQueryBegin", QUERY_BEGIN);
    gpu.set_call_cost("zetCommandListAppendMetricQueryEnd", QUERY_END);
    gpu.set_call_cost("zetMetricQueryGetData", GET_DATA);
    gpu.set_call_cost("zetMetricGroupCalculateMetricValues", CALCULATION);
    gpu.set_call_cost("zetMetricGetProperties", PROPERTIES);
    gpu.set_call_cost("zeEventHostReset", EVENT_RESET);
    gpu.set_report_cost(REPORT);
}

/* What cannot be moved to another thread. */
static void run_submission(void *argument, uint32_t regions) {
    const bare *b = (const bare *)argument;
    for (uint32_t done = 0; done < regions; done += BATCH)
        for (uint32_t i = 0; i < BATCH; i++) {
            size_t size = b->report_size;
            CHECK(zetCommandListAppendMetricQueryBegin(b->list, b->queries[i]));
            CHECK(zetCommandListAppendMetricQueryEnd(b->list, b->queries[i], b->events[i], 0, NULL));
            CHECK(zetMetricQueryGetData(b->queries[i], &size, b->reports));
            zetMetricQueryReset(b->queries[i]);
        }
}

static library open_library(uint32_t deferred, int thread) {
    zt_config config = zt_config_default();
    library l;
    config.deferred = deferred;
    config.deferred_thread = thread;
    l.profiler = open_profiler(&config);
    l.list = make_list();
    return l;
}

static void close_library(library *l) {
    close_profiler(l->profiler);
    CHECK(zeCommandListDestroy(l->list));
}

int main(void) {
    enum { REGIONS = 8 * BATCH };
    library batched, deferred;
    double times[2];
    bare b;
    open_gpu();
    batched = open_library(0, 0);
    deferred = open_library(4096, 1);
    open_bare(&b);
    run_library(&batched, 4096);
    run_library(&deferred, 4096);
    slow_down();
    prepare(&b);
    put_ratio("deferred",
              compare((work){run_library, &deferred}, (work){run_submission, &b}, 101, REGIONS, times),
              AT_MOST, 1.10);
    printf("# deferred %.2f us a region; begin, end and reading alone %.2f us\n", times[0] / 1e3,
           times[1] / 1e3);
    put_ratio("batched",
              compare((work){run_library, &batched}, (work){run_submission, &b}, 51, REGIONS, times), STATED,
              0);
    printf("# batched %.2f us a region\n", times[0] / 1e3);
    unprepare(&b);
    put_ratio("by_hand_slow",
              compare((work){run_by_hand, &b}, (work){run_library, &batched}, 21, REGIONS, times), STATED, 0);
    printf("# by hand %.2f us a region\n", times[0] / 1e3);
    close_bare(&b);
    close_library(&batched);
    close_library(&deferred);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
