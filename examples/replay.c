/* A command list that is recorded once and executed two thousand times. zt_execute() reads what the last
   execution left before the next one overwrites it, so that every execution counts. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum { EXECUTIONS = 2000, ELEMENTS = 1 << 14, GROUP = 256 };

typedef struct recording {
    program saxpy;
    float *x, *y, *copy; /* y += x, and a copy of y */
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
} recording;

/* ---- recording ----------------------------------------------------------------------------------------- */

static void record(zt_profiler *profiler, recording *r) {
    const ze_group_count_t groups = {ELEMENTS / GROUP, 1, 1};
    const size_t bytes = ELEMENTS * sizeof(float);

    ZT_REGION(profiler, r->list, "step") {
        ZT_REGION(profiler, r->list, "saxpy") {
            CHECK(zeCommandListAppendLaunchKernel(r->list, r->saxpy.kernel, &groups, NULL, 0, NULL));
        }
        CHECK(zeCommandListAppendBarrier(r->list, NULL, 0, NULL));
        ZT_REGION(profiler, r->list, "copy") {
            CHECK(zeCommandListAppendMemoryCopy(r->list, r->copy, r->y, bytes, NULL, 0, NULL));
        }
        CHECK(zeCommandListAppendBarrier(r->list, NULL, 0, NULL));
    }
    CHECK(zeCommandListClose(r->list));
}

static void prepare_saxpy(recording *r) {
    const float factor = 1;
    const uint32_t elements = ELEMENTS;

    SET_ARGUMENT(r->saxpy.kernel, 0, r->y);
    SET_ARGUMENT(r->saxpy.kernel, 1, r->x);
    SET_ARGUMENT(r->saxpy.kernel, 2, factor);
    SET_ARGUMENT(r->saxpy.kernel, 3, elements);
    CHECK(zeKernelSetGroupSize(r->saxpy.kernel, GROUP, 1, 1));
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        r->x[i] = (float)(i % 5);
        r->y[i] = 1;
    }
}

static recording recording_open(const gpu *g) {
    ze_command_queue_desc_t queue = gpu_queue_description(g);
    ze_command_list_desc_t list = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, g->compute, 0};
    recording r;

    CHECK(zeCommandQueueCreate(g->context, g->device, &queue, &r.queue));
    CHECK(zeCommandListCreate(g->context, g->device, &list, &r.list));
    r.saxpy = program_load(g, "saxpy");
    r.x = gpu_floats(g, ELEMENTS);
    r.y = gpu_floats(g, ELEMENTS);
    r.copy = gpu_floats(g, ELEMENTS);
    prepare_saxpy(&r);
    return r;
}

static void recording_close(const gpu *g, recording *r) {
    CHECK(zeCommandListDestroy(r->list));
    CHECK(zeCommandQueueDestroy(r->queue));
    CHECK(zeMemFree(g->context, r->x));
    CHECK(zeMemFree(g->context, r->y));
    CHECK(zeMemFree(g->context, r->copy));
    program_unload(&r->saxpy);
}

/* ---- checking ------------------------------------------------------------------------------------------ */

static int are_results_right(const recording *r) {
    for (uint32_t i = 0; i < ELEMENTS; i++)
        if (r->y[i] != 1 + EXECUTIONS * r->x[i] || r->copy[i] != r->y[i])
            return 0;
    return 1;
}

static int is_every_execution_counted(const zt_profiler *profiler) {
    int ok = 1;

    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        zt_region_info region;
        CHECK(zt_get_region(profiler, i, &region));
        printf("%-6s %llu of %d executions\n", region.name, (unsigned long long)region.count, EXECUTIONS);
        ok = ok && region.count == EXECUTIONS;
    }
    return ok;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    recording r = recording_open(&g);
    zt_profiler *profiler = profiler_open(&g, NULL);
    int right, counted;

    (void)argc;
    record(profiler, &r);
    for (int i = 0; i < EXECUTIONS; i++)
        CHECK(zt_execute(profiler, r.queue, 1, &r.list, NULL));
    CHECK(zeCommandQueueSynchronize(r.queue, TIMEOUT_NS));
    zt_collect(profiler, TIMEOUT_NS);

    right = are_results_right(&r);
    counted = is_every_execution_counted(profiler);
    printf("results: %s\n\n", right ? "right" : "WRONG");
    zt_report(profiler, "-");

    zt_release(profiler, r.list);
    zt_close(profiler);
    recording_close(&g, &r);
    gpu_close(&g);
    return right && counted ? EXIT_SUCCESS : EXIT_FAILURE;
}
