/* Regions without the library: as the programming guide has it, and as the barest loop. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include <pthread.h>

#include "bench.h"

#include <level_zero/zet_api.h>

/* What both have prepared. */
typedef struct bare {
    target target;
    zet_metric_group_handle_t group;
    uint32_t metric_count;
    zet_metric_query_pool_handle_t query_pool;
    ze_event_pool_handle_t event_pool;
    zet_metric_query_handle_t queries[BATCH];
    ze_event_handle_t events[BATCH];
    size_t report_size;
    uint8_t *reports;
    zet_typed_value_t *values;
} bare;

static inline ze_event_handle_t make_event(const bare *b, uint32_t index) {
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, index, ZE_EVENT_SCOPE_FLAG_HOST,
                            ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event;
    CHECK(zeEventCreate(b->event_pool, &desc, &event));
    return event;
}

static inline zet_metric_query_handle_t make_query(const bare *b, uint32_t index) {
    zet_metric_query_handle_t query;
    CHECK(zetMetricQueryCreate(b->query_pool, index, &query));
    return query;
}

/* The group is to be active: a profiler is open. */
static inline void open_bare(bare *b, kind wanted) {
    ze_event_pool_desc_t events = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                   BATCH};
    zet_metric_query_pool_desc_t queries = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                            ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE, BATCH};
    memset(b, 0, sizeof *b);
    b->target = open_target(wanted);
    CHECK(zt_find_group(gpu.device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
                        &b->group));
    CHECK(zetMetricGet(b->group, &b->metric_count, NULL));
    CHECK(zetMetricQueryPoolCreate(gpu.context, gpu.device, b->group, &queries, &b->query_pool));
    CHECK(zeEventPoolCreate(gpu.context, &events, 1, &gpu.device, &b->event_pool));
}

static inline void close_bare(bare *b) {
    CHECK(zetMetricQueryPoolDestroy(b->query_pool));
    CHECK(zeEventPoolDestroy(b->event_pool));
    close_target(&b->target);
}

/* ---- the barest loop ------------------------------------------------------------------------------------- */

static inline void prepare(bare *b) {
    for (uint32_t i = 0; i < BATCH; i++) {
        b->queries[i] = make_query(b, i);
        b->events[i] = make_event(b, i);
    }
    b->report_size = 0;
    CHECK(zetMetricQueryGetData(b->queries[0], &b->report_size, NULL));
    b->reports = (uint8_t *)malloc(BATCH * b->report_size);
    b->values = (zet_typed_value_t *)malloc(BATCH * b->metric_count * sizeof *b->values);
    NEED(b->reports && b->values);
}

static inline void unprepare(bare *b) {
    for (uint32_t i = 0; i < BATCH; i++) {
        CHECK(zetMetricQueryDestroy(b->queries[i]));
        CHECK(zeEventDestroy(b->events[i]));
    }
    free(b->reports);
    free(b->values);
}

/* Real drivers bear one calculation at a time. */
static inline void calculate_bare(const bare *b) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint32_t count = BATCH * b->metric_count;
    pthread_mutex_lock(&lock);
    CHECK(zetMetricGroupCalculateMetricValues(b->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                              BATCH * b->report_size, b->reports, &count, b->values));
    pthread_mutex_unlock(&lock);
}

static inline void append_bare(const bare *b) {
    for (uint32_t i = 0; i < BATCH; i++) {
        CHECK(zetCommandListAppendMetricQueryBegin(b->target.list, b->queries[i]));
        append_work(&b->target);
        CHECK(zetCommandListAppendMetricQueryEnd(b->target.list, b->queries[i], b->events[i], 0, NULL));
    }
}

static inline void reset_bare(const bare *b) {
    for (uint32_t i = 0; i < BATCH; i++) {
        CHECK(zeEventHostReset(b->events[i]));
        CHECK(zetMetricQueryReset(b->queries[i]));
    }
}

static inline void collect_bare(const bare *b) {
    for (uint32_t i = 0; i < BATCH; i++) {
        size_t size = b->report_size;
        CHECK(zeEventQueryStatus(b->events[i]));
        ze_result_t result = zetMetricQueryGetData(b->queries[i], &size, b->reports + i * size);
        if (!gpu.is_real || b->target.kind == RECORDED)
            CHECK(result); /* elsewhere the driver drops a query now and then */
    }
    reset_bare(b);
    calculate_bare(b);
}

/* The driver calls that the library makes, and the work. The device's own time does not count. */
static inline void run_bare(void *argument, uint32_t regions) {
    bare *b = (bare *)argument;
    target *t = &b->target;
    for (uint32_t done = 0; done < regions; done += BATCH) {
        start_watch();
        if (t->kind == RECORDED)
            CHECK(zeCommandListReset(t->list));
        append_bare(b);
        if (t->kind == RECORDED) {
            CHECK(zeCommandListClose(t->list));
            CHECK(zeCommandQueueExecuteCommandLists(t->queue, 1, &t->list, NULL));
        }
        stop_watch();
        await_target(t);
        start_watch();
        collect_bare(b);
        stop_watch();
    }
}

/* ---- as the guide has it --------------------------------------------------------------------------------- */

static volatile double by_hand_sum;

/* The value of one metric, its name looked up among the values of one report. */
static inline void interpret(const bare *b, const zet_typed_value_t *values) {
    uint32_t count = 0;
    CHECK(zetMetricGet(b->group, &count, NULL));
    zet_metric_handle_t *metrics = (zet_metric_handle_t *)malloc(count * sizeof *metrics);
    NEED(metrics);
    CHECK(zetMetricGet(b->group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties;
        memset(&properties, 0, sizeof properties);
        properties.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        CHECK(zetMetricGetProperties(metrics[i], &properties));
        if (strcmp(properties.name, "GpuTime") == 0)
            by_hand_sum += (double)values[i].value.ui64;
    }
    free(metrics);
}

static inline void calculate_by_hand(const bare *b, size_t size, const uint8_t *report) {
    const zet_metric_group_calculation_type_t type = ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t count = 0;
    CHECK(zetMetricGroupCalculateMetricValues(b->group, type, size, report, &count, NULL));
    zet_typed_value_t *values = (zet_typed_value_t *)malloc(count * sizeof *values);
    NEED(values);
    CHECK(zetMetricGroupCalculateMetricValues(b->group, type, size, report, &count, values));
    interpret(b, values);
    free(values);
}

static inline void region_by_hand(const bare *b) {
    zet_metric_query_handle_t query = make_query(b, 0);
    ze_event_handle_t event = make_event(b, 0);
    size_t size = 0;
    CHECK(zetCommandListAppendMetricQueryBegin(b->target.list, query));
    append_work(&b->target);
    CHECK(zetCommandListAppendMetricQueryEnd(b->target.list, query, event, 0, NULL));
    CHECK(zeEventHostSynchronize(event, UINT64_C(10000000000)));
    CHECK(zetMetricQueryGetData(query, &size, NULL));
    uint8_t *report = (uint8_t *)malloc(size);
    NEED(report);
    CHECK(zetMetricQueryGetData(query, &size, report));
    calculate_by_hand(b, size, report);
    free(report);
    CHECK(zeEventDestroy(event));
    CHECK(zetMetricQueryDestroy(query));
}

static inline void run_by_hand(void *argument, uint32_t regions) {
    start_watch();
    for (uint32_t i = 0; i < regions; i++)
        region_by_hand((const bare *)argument);
    stop_watch();
}

/* ---- and by the library ---------------------------------------------------------------------------------- */

typedef struct library {
    zt_profiler *profiler;
    target target;
} library;

static inline library open_library(kind wanted) {
    library l = {open_profiler(NULL), open_target(wanted)};
    return l;
}

static inline void close_library(library *l) {
    close_profiler(l->profiler);
    close_target(&l->target);
}

static inline void append_library(const library *l) {
    for (uint32_t i = 0; i < BATCH; i++) {
        zt_region region = zt_begin(l->profiler, l->target.list, i % 2 ? "odd" : "even");
        append_work(&l->target);
        zt_end(&region);
    }
}

static inline void run_library(void *argument, uint32_t regions) {
    library *l = (library *)argument;
    target *t = &l->target;
    for (uint32_t done = 0; done < regions; done += BATCH) {
        start_watch();
        if (t->kind == RECORDED)
            CHECK(zt_reset(l->profiler, t->list));
        append_library(l);
        if (t->kind == RECORDED) {
            CHECK(zeCommandListClose(t->list));
            CHECK(zt_execute(l->profiler, t->queue, 1, &t->list, NULL));
        }
        stop_watch();
        await_target(t);
        start_watch();
        if (t->kind == IMMEDIATE) /* a reset collects */
            CHECK(zt_collect(l->profiler, 0));
        stop_watch();
    }
}

#endif
