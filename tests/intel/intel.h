/* What the programs of this directory share. They use no more of a device than the examples do, and run on
   every driver: also on the software device, by tests/run-on-device.sh. */
#ifndef TESTS_INTEL_H
#define TESTS_INTEL_H

#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "examples/example.h"

#include <pthread.h>
#include <time.h>

enum { QUEUE_IN_ORDER = 1 << 1 }; /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER, which older headers lack */

static inline uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Messages of the library, of which each is shown. */
static inline void show_message(int result, const char *text, void *user) {
    (void)user;
    printf("# %s (0x%x)\n", text, (unsigned)result);
}

static inline zt_profiler *open_profiler(const gpu *g, const char *groups) {
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = groups;
    config.log = show_message;
    config.timeline = 0;
    CHECK(zt_open(g->context, g->device, &config, &profiler));
    if (!groups && zt_get_info(profiler).availability != ZT_AVAILABLE) {
        printf("%s\n", zt_get_info(profiler).availability_text);
        exit(EXIT_FAILURE);
    }
    return profiler;
}

/* `of` by cause, on one line. */
static inline void show_causes(const zt_profiler *profiler) {
    const zt_counts counts = zt_get_info(profiler).counts;
    printf("# begun %llu, collected %llu, lost %llu, dropped %llu, in flight %llu",
           (unsigned long long)counts.begun, (unsigned long long)counts.collected,
           (unsigned long long)counts.lost, (unsigned long long)counts.dropped,
           (unsigned long long)counts.in_flight);
    for (int i = 0; i < ZT_CAUSE_COUNT; i++)
        if (zt_get_info(profiler).causes[(zt_cause)i].count)
            printf("; %s: %llu", zt_get_info(NULL).causes[(zt_cause)i].name,
                   (unsigned long long)zt_get_info(profiler).causes[(zt_cause)i].count);
    printf("\n");
}

static inline ze_command_list_handle_t open_immediate(const gpu *g, uint32_t flags) {
    ze_command_queue_desc_t desc = gpu_queue_description(g);
    ze_command_list_handle_t list;
    desc.flags |= flags;
    CHECK(zeCommandListCreateImmediate(g->context, g->device, &desc, &list));
    return list;
}

static inline ze_command_list_handle_t open_list(const gpu *g) {
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, g->compute, 0};
    ze_command_list_handle_t list;
    CHECK(zeCommandListCreate(g->context, g->device, &desc, &list));
    return list;
}

static inline ze_command_queue_handle_t open_queue(const gpu *g) {
    ze_command_queue_desc_t desc = gpu_queue_description(g);
    ze_command_queue_handle_t queue;
    CHECK(zeCommandQueueCreate(g->context, g->device, &desc, &queue));
    return queue;
}

/* A pool, and `count` events of it. */
static inline ze_event_pool_handle_t open_events(const gpu *g, uint32_t flags, uint32_t count,
                                                 ze_event_handle_t *events) {
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                 ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags, count};
    ze_event_desc_t event = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool;
    CHECK(zeEventPoolCreate(g->context, &desc, 1, (ze_device_handle_t *)&g->device, &pool));
    for (event.index = 0; event.index < count; event.index++)
        CHECK(zeEventCreate(pool, &event, &events[event.index]));
    return pool;
}

static inline void close_events(ze_event_pool_handle_t pool, uint32_t count, ze_event_handle_t *events) {
    for (uint32_t i = 0; i < count; i++)
        CHECK(zeEventDestroy(events[i]));
    CHECK(zeEventPoolDestroy(pool));
}

/* saxpy over no elements. */
static inline program open_nothing(const gpu *g) {
    program p = program_load(g, "saxpy");
    void *nothing = NULL;
    float zero = 0;
    uint32_t none = 0;
    CHECK(zeKernelSetGroupSize(p.kernel, 1, 1, 1));
    SET_ARGUMENT(p.kernel, 0, nothing);
    SET_ARGUMENT(p.kernel, 1, nothing);
    SET_ARGUMENT(p.kernel, 2, zero);
    SET_ARGUMENT(p.kernel, 3, none);
    return p;
}

static inline void append_launch(ze_command_list_handle_t list, const program *p, ze_event_handle_t event) {
    const ze_group_count_t groups = {1, 1, 1};
    CHECK(zeCommandListAppendLaunchKernel(list, p->kernel, &groups, event, 0, NULL));
}

#endif
