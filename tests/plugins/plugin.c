/* Compiled as C, as C++, and as C with a copy of zetools.h of another version, each with hidden visibility.
 */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "plugin.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 16, WAIT_S = 30 };

struct plugin_world {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t done;
    void *memory;
    zt_profiler *profiler;
    void (*sample)(void *user);
    void *sample_user;
};

static int create_objects(plugin_world *w) {
    ze_driver_handle_t driver;
    uint32_t one = 1;
    ze_context_desc_t context;
    ze_command_queue_desc_t queue;
    ze_event_pool_desc_t pool;
    ze_event_desc_t event;
    ze_host_mem_alloc_desc_t host;
    memset(&context, 0, sizeof context);
    memset(&queue, 0, sizeof queue);
    memset(&pool, 0, sizeof pool);
    memset(&event, 0, sizeof event);
    memset(&host, 0, sizeof host);
    context.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
    queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    pool.count = 1;
    event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    event.signal = event.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    return zeInit(0) == ZE_RESULT_SUCCESS && zeDriverGet(&one, &driver) == ZE_RESULT_SUCCESS &&
           zeDeviceGet(driver, &one, &w->device) == ZE_RESULT_SUCCESS &&
           zeContextCreate(driver, &context, &w->context) == ZE_RESULT_SUCCESS &&
           zeCommandListCreateImmediate(w->context, w->device, &queue, &w->list) == ZE_RESULT_SUCCESS &&
           zeEventPoolCreate(w->context, &pool, 1, &w->device, &w->pool) == ZE_RESULT_SUCCESS &&
           zeEventCreate(w->pool, &event, &w->done) == ZE_RESULT_SUCCESS &&
           zeMemAllocHost(w->context, &host, MEMORY, 64, &w->memory) == ZE_RESULT_SUCCESS;
}

static plugin_world *create(void) {
    plugin_world *w = (plugin_world *)calloc(1, sizeof *w);
    if (w && create_objects(w))
        return w;
    free(w);
    return NULL;
}

static void close_profiler(plugin_world *w) {
    zt_close(w->profiler);
    w->profiler = NULL;
}

static void destroy(plugin_world *w) {
    close_profiler(w);
    zeMemFree(w->context, w->memory);
    zeEventDestroy(w->done);
    zeEventPoolDestroy(w->pool);
    zeCommandListDestroy(w->list);
    zeContextDestroy(w->context);
    free(w);
}

static void pass_sample_on(const zt_sample *sample, void *user) {
    plugin_world *w = (plugin_world *)user;
    (void)sample;
    if (w->sample)
        w->sample(w->sample_user);
}

static int open_profiler(plugin_world *w, const char *groups, void (*sample)(void *user), void *user) {
    zt_config config;
    memset(&config, 0, sizeof config);
    config.groups = groups;
    config.timeline = 100;
    config.sample = pass_sample_on;
    config.sample_user = w;
    w->sample = sample;
    w->sample_user = user;
    return (int)zt_open(w->context, w->device, &config, &w->profiler);
}

static int availability(plugin_world *w) {
    return (int)zt_get_info(w->profiler).availability;
}

static const char *text(plugin_world *w) {
    return zt_get_info(w->profiler).availability_text;
}

static int run(plugin_world *w, const char *name, size_t bytes) {
    const uint8_t zero = 0;
    ze_result_t result;
    zt_region region = zt_begin(w->profiler, w->list, name);
    result = zeCommandListAppendMemoryFill(w->list, w->memory, &zero, 1, bytes, NULL, 0, NULL);
    zt_end(&region);
    if (result == ZE_RESULT_SUCCESS)
        result = zeCommandListAppendBarrier(w->list, w->done, 0, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeEventHostSynchronize(w->done, UINT64_C(1000000000) * WAIT_S);
    zeEventHostReset(w->done);
    return (int)result;
}

static int collect(plugin_world *w, uint64_t timeout_ns) {
    return (int)zt_collect(w->profiler, timeout_ns);
}

static plugin_counts counts(plugin_world *w) {
    zt_counts from = zt_get_info(w->profiler).counts;
    plugin_counts to;
    to.begun = from.begun;
    to.collected = from.collected;
    to.lost = from.lost;
    to.dropped = from.dropped;
    to.in_flight = from.in_flight;
    return to;
}

static double written(plugin_world *w, const char *name) {
    zt_stats stats;
    zt_region_info info;
    uint32_t metric = zt_find_metric(w->profiler, "GPU_MEMORY_BYTE_WRITE");
    for (uint32_t i = 0; i < zt_get_info(w->profiler).region_count; i++) {
        if (zt_get_region(w->profiler, i, &info) == ZE_RESULT_SUCCESS && strcmp(info.name, name) == 0 &&
            zt_get_stats(w->profiler, i, metric, &stats) == ZE_RESULT_SUCCESS)
            return stats.sum;
    }
    return -1;
}

static uint32_t tiles(plugin_world *w) {
    return zt_get_info(w->profiler).tile_count;
}

static char kept[1 << 18];
static size_t kept_size;

static int keep(const void *bytes, size_t size, void *user) {
    (void)user;
    if (kept_size + size >= sizeof kept)
        return -1;
    memcpy(kept + kept_size, bytes, size);
    kept_size += size;
    kept[kept_size] = 0;
    return 0;
}

static const char *trace(plugin_world *w) {
    kept_size = 0;
    kept[0] = 0;
    zt_write(w->profiler, ZT_FORMAT_TRACE, keep, NULL);
    return kept;
}

static const char *version(void) {
    return ZETOOLS_VERSION;
}

static size_t profiler_size(void) {
    return sizeof(zt_profiler);
}

#ifdef __cplusplus
extern "C"
#endif
    __attribute__((visibility("default"))) const plugin *
    plugin_entry(void);

const plugin *plugin_entry(void) {
    static const plugin functions = {create, destroy,        open_profiler, availability, text,
                                     run,    collect,        counts,        written,      tiles,
                                     trace,  close_profiler, version,       profiler_size};
    return &functions;
}
