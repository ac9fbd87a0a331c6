/* Metric queries: pools of them, the commands that begin and end them, and their data. */
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

typedef enum sg_phase {
    SG_IDLE,
    SG_RUNNING,
    SG_BLIND /* it runs and measures nothing: its data never come */
} sg_phase;

typedef struct sg_query {
    sg_object object;
    struct sg_query_pool *pool;
    uint32_t index;
    sg_phase phase;
    bool used;            /* since the last reset */
    bool ready;           /* its data can be read */
    _Atomic bool pending; /* one of its device's pending_queries */
    /* With NESTED_REPLAY_OVERFLOWS: the list that it is open on, where that is executed again, and whether
     * another has begun or ended meanwhile. */
    const sg_list *_Atomic replayed_on;
    bool has_inner;
    uint64_t last_id;     /* of its reports */
    pthread_mutex_t lock; /* of the state, and of what the pool holds for it */
} sg_query;

typedef struct sg_query_pool {
    sg_object object;
    sg_metric_group *group;
    uint32_t count;
    uint32_t tiles;
    size_t raw_size;      /* of one query's data */
    pthread_mutex_t lock; /* of the queries */
    sg_query **queries;   /* by index, as the slots */
    size_t slot_size;     /* whole cache lines */
    uint8_t *slots;       /* the readings at a query's begin, then its data */
} sg_query_pool;

SG_HANDLE(sg_query_of, sg_query, zet_metric_query_handle_t, SG_QUERY)
SG_HANDLE(sg_query_pool_of, sg_query_pool, zet_metric_query_pool_handle_t, SG_QUERY_POOL)

/* ---- pools ------------------------------------------------------------------------------------------- */

static ze_result_t check_pool(const sg_device *device, const sg_metric_group *group,
                              const zet_metric_query_pool_desc_t *desc) {
    if (desc->type > ZET_METRIC_QUERY_POOL_TYPE_EXECUTION)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->type == ZET_METRIC_QUERY_POOL_TYPE_EXECUTION)
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    ze_result_t refusal = sg_metrics_refusal(device);
    if (refusal != ZE_RESULT_SUCCESS)
        return refusal;
    if (sg_group_is_ip_sampling(group))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (group->device != device || desc->count == 0 || sg_counters_are_refused() ||
        group->sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return ZE_RESULT_SUCCESS;
}

/* A domain serves query pools or a streamer. */
static ze_result_t reserve_domain(const sg_device *device, uint32_t domain) {
    sg_metrics *metrics = device->metrics;
    if (!sg_counters_acquire(device))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT; /* as without permission */
    pthread_mutex_lock(&metrics->lock);
    bool is_free = !sg_metrics_have_streamer(metrics, domain);
    metrics->pools[domain] += is_free;
    pthread_mutex_unlock(&metrics->lock);
    if (!is_free)
        sg_counters_release(device);
    return is_free ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE;
}

static void release_domain(const sg_device *device, uint32_t domain) {
    pthread_mutex_lock(&device->metrics->lock);
    device->metrics->pools[domain]--;
    pthread_mutex_unlock(&device->metrics->lock);
    sg_counters_release(device);
}

static size_t begins_size(const sg_query_pool *pool) {
    return sizeof(sg_counts) * (pool->tiles ? pool->tiles : 1);
}

static bool allocate_slots(sg_query_pool *pool) {
    pool->queries = calloc(pool->count, sizeof *pool->queries);
    pool->slot_size = sg_whole_lines(begins_size(pool) + pool->raw_size);
    pool->slots = aligned_alloc(SG_CACHE_LINE, pool->count * pool->slot_size);
    return pool->queries && pool->slots;
}

static void destroy_pool(sg_query_pool *pool) {
    free(pool->queries);
    sg_free_aligned(pool->slots);
    pthread_mutex_destroy(&pool->lock);
    sg_object_destroy(pool);
}

static sg_query_pool *create_pool(sg_object *context, sg_metric_group *group, uint32_t count) {
    sg_query_pool *pool = sg_object_create(SG_QUERY_POOL, sizeof *pool, context);
    if (!pool)
        return NULL;
    pool->group = group;
    pool->count = count;
    pool->tiles = sg_tiles_of(group->device);
    pool->raw_size = sg_raw_size(group, pool->tiles, 1);
    pthread_mutex_init(&pool->lock, NULL);
    if (allocate_slots(pool))
        return pool;
    destroy_pool(pool);
    return NULL;
}

ze_result_t sg_zetMetricQueryPoolCreate(zet_context_handle_t context, zet_device_handle_t device_handle,
                                        zet_metric_group_handle_t group_handle,
                                        const zet_metric_query_pool_desc_t *desc,
                                        zet_metric_query_pool_handle_t *out_pool) {
    sg_device *device = sg_device_of(device_handle);
    sg_metric_group *group = sg_group_of(group_handle);
    SG_NEED_HANDLE(sg_context_of(context));
    SG_NEED_HANDLE(device);
    SG_NEED_HANDLE(group);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(out_pool);
    ze_result_t result = check_pool(device, group, desc);
    if (result == ZE_RESULT_SUCCESS)
        result = reserve_domain(device, group->domain);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sg_race_end(device->root, SG_ACTIVATION, sg_race_begin(device->root, SG_ACTIVATION));
    sg_query_pool *pool = create_pool(sg_context_of(context), group, desc->count);
    if (!pool) {
        release_domain(device, group->domain);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_pool = (zet_metric_query_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricQueryPoolDestroy(zet_metric_query_pool_handle_t handle) {
    sg_query_pool *pool = sg_query_pool_of(handle);
    if (!pool)
        return sg_object_refuse(handle, SG_QUERY_POOL);
    if (atomic_load(&pool->object.children) > 0) {
        sg_finding("a metric query pool was to be destroyed before its queries");
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    sg_root *root = pool->group->device->root;
    sg_race_end(root, SG_ACTIVATION, sg_race_begin(root, SG_ACTIVATION));
    release_domain(pool->group->device, pool->group->domain);
    destroy_pool(pool);
    return ZE_RESULT_SUCCESS;
}

/* ---- the first use after an activation ------------------------------------------------------------------ */

/* A query begins for the calling thread. */
static void begin_use(sg_query *query) {
    if (!sg_behaviour_is_on(SOFTGPU_ACTIVATE_AT_FIRST_USE))
        return;
    sg_metrics *metrics = query->pool->group->device->metrics;
    pthread_mutex_lock(&metrics->lock);
    bool is_first = metrics->activation_is_pending && metrics->pending_queries == 0;
    if (is_first) {
        metrics->pending_thread = pthread_self();
        metrics->pending_is_shared = false;
    } else if (metrics->activation_is_pending && !pthread_equal(metrics->pending_thread, pthread_self())) {
        sg_finding("two threads use queries before one has completed alone since the activation");
        metrics->pending_is_shared = true;
    }
    if (metrics->activation_is_pending && !atomic_exchange(&query->pending, true))
        metrics->pending_queries++;
    pthread_mutex_unlock(&metrics->lock);
    if (is_first)
        sg_take_20_ms();
}

/* It has completed, or never will. */
static void end_use(sg_query *query, bool is_complete) {
    if (!atomic_load(&query->pending))
        return;
    sg_metrics *metrics = query->pool->group->device->metrics;
    pthread_mutex_lock(&metrics->lock);
    if (atomic_exchange(&query->pending, false)) {
        metrics->pending_queries--;
        if (is_complete && metrics->pending_queries == 0 && !metrics->pending_is_shared)
            metrics->activation_is_pending = false;
    }
    pthread_mutex_unlock(&metrics->lock);
}

/* ---- queries ----------------------------------------------------------------------------------------- */

static sg_query *create_query(sg_query_pool *pool, uint32_t index) {
    sg_query *query = sg_object_create(SG_QUERY, sizeof *query, pool);
    if (query) {
        query->pool = pool;
        query->index = index;
        pthread_mutex_init(&query->lock, NULL);
    }
    return query;
}

/* One place of a pool has one query, however often it is asked for. */
ze_result_t sg_zetMetricQueryCreate(zet_metric_query_pool_handle_t handle, uint32_t index,
                                    zet_metric_query_handle_t *out_query) {
    sg_query_pool *pool = sg_query_pool_of(handle);
    SG_NEED_HANDLE(pool);
    SG_NEED_POINTER(out_query);
    if (index >= pool->count)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&pool->lock);
    sg_query *query = pool->queries[index];
    if (!query)
        query = pool->queries[index] = create_query(pool, index);
    pthread_mutex_unlock(&pool->lock);
    if (!query)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *out_query = (zet_metric_query_handle_t)query;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricQueryDestroy(zet_metric_query_handle_t handle) {
    sg_query *query = sg_query_of(handle);
    if (!query)
        return sg_object_refuse(handle, SG_QUERY);
    sg_query_pool *pool = query->pool;
    end_use(query, false);
    sg_device_pause(pool->group->device);
    pthread_mutex_lock(&pool->lock);
    pool->queries[query->index] = NULL;
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_destroy(&query->lock);
    sg_object_destroy(query);
    sg_device_resume(pool->group->device);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zetMetricQueryReset(zet_metric_query_handle_t handle) {
    sg_query *query = sg_query_of(handle);
    SG_NEED_HANDLE(query);
    end_use(query, false);
    pthread_mutex_lock(&query->lock);
    query->phase = SG_IDLE; /* where an end is still to come, that is found when it does */
    query->used = false;
    query->ready = query->ready && sg_behaviour_is_on(SOFTGPU_STALE_REPLAY);
    pthread_mutex_unlock(&query->lock);
    return ZE_RESULT_SUCCESS;
}

static sg_counts *begins_of(const sg_query *query) {
    return (sg_counts *)(void *)(query->pool->slots + query->index * query->pool->slot_size);
}

static uint8_t *raw_of(const sg_query *query) {
    return (uint8_t *)begins_of(query) + begins_size(query->pool);
}

ze_result_t sg_zetMetricQueryGetData(zet_metric_query_handle_t handle, size_t *size, uint8_t *data) {
    sg_query *query = sg_query_of(handle);
    SG_NEED_HANDLE(query);
    SG_NEED_POINTER(size);
    const sg_query_pool *pool = query->pool;
    if (*size == 0) {
        *size = pool->raw_size;
        return ZE_RESULT_SUCCESS;
    }
    SG_NEED_POINTER(data);
    if (*size < pool->raw_size)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    pthread_mutex_lock(&query->lock);
    bool ready = query->ready;
    if (ready)
        memcpy(data, raw_of(query), pool->raw_size);
    pthread_mutex_unlock(&query->lock);
    if (ready) {
        *size = pool->raw_size;
        return ZE_RESULT_SUCCESS;
    }
    return sg_behaviour_is_on(SOFTGPU_UNKNOWN_FOR_NOT_READY) ? ZE_RESULT_ERROR_UNKNOWN : ZE_RESULT_NOT_READY;
}

/* ---- commands ---------------------------------------------------------------------------------------- */

/* What a command of a list knows of its query. */
typedef struct sg_query_use {
    sg_query *query;
    uint64_t serial;
    bool was_active; /* the query's group, when the command was appended */
    bool was_executed;
} sg_query_use;

static sg_query *query_in_use(const sg_query_use *use) {
    if (sg_object_is(&use->query->object, use->serial))
        return use->query;
    sg_finding("a command list uses a metric query that was destroyed");
    return NULL;
}

static bool is_active(const sg_query_use *use) {
    return sg_group_is_active(use->query->pool->group) &&
           (use->was_active || sg_behaviour_is_on(SOFTGPU_ACTIVATE_AT_EXECUTION));
}

/* With CHEAP_CALLS, threads would pass this one count to and fro for each query. */
static void flush(const sg_execution *execution) {
    if (!sg_behaviour_is_on(SOFTGPU_CHEAP_CALLS))
        sg_count(sg_tile_for(execution->device, 0), SG_FLUSHES, 1);
}

static void note_inner(void *visited, void *list) {
    sg_query *query = visited;
    if (atomic_load(&query->replayed_on) == list)
        query->has_inner = true;
}

/* A query begins or ends: the others that are open on the list have it inside. */
static void note_in_outer(const sg_execution *execution) {
    if (sg_behaviour_is_on(SOFTGPU_NESTED_REPLAY_OVERFLOWS) && !execution->immediate)
        sg_object_each(SG_QUERY, note_inner, execution->list);
}

static void run_begin(sg_execution *execution, void *argument) {
    sg_query_use *use = argument;
    sg_query *query = query_in_use(use);
    if (!query)
        return;
    flush(execution);
    note_in_outer(execution);
    query->has_inner = false;
    atomic_store(&query->replayed_on, use->was_executed && !execution->immediate ? execution->list : NULL);
    use->was_executed = true;
    pthread_mutex_lock(&query->lock);
    if (query->used)
        sg_finding("a metric query was begun again without a reset");
    bool never = execution->immediate && sg_behaves(SOFTGPU_NEVER_DELIVERED);
    query->phase = is_active(use) && !never ? SG_RUNNING : SG_BLIND;
    query->used = true;
    query->ready = query->ready && sg_behaves(SOFTGPU_STALE_REPLAY);
    sg_measure(query->pool->group, query->pool->tiles, begins_of(query));
    pthread_mutex_unlock(&query->lock);
}

/* What has struck this report, of all that may: several can at once. */
static uint32_t strike(void) {
    uint32_t flags = 0;
    for (uint32_t i = 0; i < SG_REPORT_FLAGS; i++)
        flags |= (uint32_t)sg_behaves((enum softgpu_behaviour)(SOFTGPU_REPORT_ERROR + i)) << i;
    return flags;
}

/* A struck report has its flags and zeros, and is no error. */
static void write_reports(sg_query *query, const sg_counts *ends) {
    const sg_query_pool *pool = query->pool;
    const sg_counts *begins = begins_of(query);
    uint32_t flags = strike();
    uint8_t *to = raw_of(query);
    sg_report report = sg_report_of(pool->group, SG_REASON_QUERY, ++query->last_id);
    report.flags = flags;
    report.overflows = query->has_inner && sg_behaves(SOFTGPU_NESTED_REPLAY_OVERFLOWS);
    if (pool->tiles) {
        sg_packet packet = sg_packet_of(pool->tiles, sg_report_size(pool->group));
        memcpy(to, &packet, sizeof packet);
        to += sizeof packet;
    }
    for (uint32_t i = 0; i < (pool->tiles ? pool->tiles : 1); i++) {
        if (!flags)
            sg_report_fill(&report, &begins[i], &ends[i]);
        sg_report_write(pool->group, &report, to + i * sg_report_size(pool->group));
    }
}

static void run_end(sg_execution *execution, void *argument) {
    const sg_query_use *use = argument;
    sg_query *query = query_in_use(use);
    if (!query)
        return;
    sg_counts ends[SG_MAX_TILES];
    sg_measure(query->pool->group, query->pool->tiles, ends);
    atomic_store(&query->replayed_on, NULL);
    note_in_outer(execution);
    pthread_mutex_lock(&query->lock);
    if (query->phase == SG_IDLE)
        sg_finding("a metric query was ended that had not begun");
    if (query->phase == SG_RUNNING && is_active(use)) {
        write_reports(query, ends);
        query->ready = true;
    }
    query->phase = SG_IDLE;
    bool is_complete = query->ready;
    pthread_mutex_unlock(&query->lock);
    end_use(query, is_complete);
    flush(execution);
    if (sg_behaves(SOFTGPU_UNDEFINED_QUERY_TIMESTAMP)) {
        execution->start += UINT64_C(3600000000000);
        execution->end = 1;
    }
}

void sg_queries_use(sg_list *list) {
    sg_cursor cursor = {NULL, 0, 0};
    if (!sg_behaviour_is_on(SOFTGPU_ACTIVATE_AT_FIRST_USE))
        return;
    for (sg_command *command; (command = sg_tape_peek(&list->tape, &cursor, false));) {
        const sg_query_use *use = command->argument;
        if (command->run == run_begin && sg_object_is(&use->query->object, use->serial))
            begin_use(use->query);
        sg_tape_step(&cursor, command);
    }
}

static ze_result_t append_query(zet_command_list_handle_t list_handle, zet_metric_query_handle_t handle,
                                sg_append command) {
    const sg_list *list = sg_list_of(list_handle);
    sg_query *query = sg_query_of(handle);
    SG_NEED_HANDLE(list);
    SG_NEED_HANDLE(query);
    const sg_query_pool *pool = query->pool;
    if (!sg_list_fits(list, pool->object.parent, pool->group->device))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    sg_query_use use = {query, query->object.serial, sg_group_is_active(pool->group), false};
    command.argument = &use;
    command.size = sizeof use;
    bool begins_now = list->is_immediate && command.run == run_begin;
    if (begins_now)
        begin_use(query);
    ze_result_t result = sg_list_append(list_handle, &command);
    if (begins_now && result != ZE_RESULT_SUCCESS)
        end_use(query, false);
    return result;
}

ze_result_t sg_zetCommandListAppendMetricQueryBegin(zet_command_list_handle_t list,
                                                    zet_metric_query_handle_t query) {
    return append_query(list, query, (sg_append){.run = run_begin, .order = SG_IN_ORDER});
}

ze_result_t sg_zetCommandListAppendMetricQueryEnd(zet_command_list_handle_t list,
                                                  zet_metric_query_handle_t query, ze_event_handle_t signal,
                                                  uint32_t wait_count, ze_event_handle_t *waits) {
    bool held = !signal && sg_behaviour_is_on(SOFTGPU_QUERY_END_HELD);
    return append_query(list, query,
                        (sg_append){.run = run_end,
                                    .signal = signal,
                                    .wait_count = wait_count,
                                    .waits = waits,
                                    .held = held,
                                    .order = sg_barrier_order(wait_count)});
}

static void run_barrier(sg_execution *execution, void *argument) {
    (void)argument;
    flush(execution);
}

ze_result_t sg_zetCommandListAppendMetricMemoryBarrier(zet_command_list_handle_t list) {
    SG_NEED_HANDLE(sg_list_of(list));
    return sg_list_append(list, &(sg_append){.run = run_barrier, .order = SG_IN_ORDER});
}
