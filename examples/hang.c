/* Finds where a kernel hangs. The kernel waits for a flag that nobody sets. The program goes on meanwhile,
   and a watch reports in which region and at which instruction the device hangs, also to run.hang.txt. Then
   the program sets the flag, so that the kernel ends with the right result. On a real device, program debug
   has to be enabled: see PROGRAM DEBUG in zetools.h. */
#define ZETOOLS_DEBUG
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

#include <stdatomic.h>
#include <time.h>

enum { ITEMS = 64, HANG_MS = 300, MOST_TURNS = 10000 };

/* What the watch has found. */
typedef struct finding {
    char text[1 << 14];
    int is_debugged, is_in_kernel;
    atomic_int is_complete;
} finding;

/* Called on the thread of the watch. */
static void keep_report(const zt_hang *hang, void *user) {
    finding *found = (finding *)user;

    if (atomic_load(&found->is_complete))
        return;
    snprintf(found->text, sizeof found->text, "%s", hang->text);
    found->is_debugged = hang->debugged_by != ZT_DEBUGGED_BY_NOBODY;
    for (uint32_t i = 0; i < hang->place_count; i++)
        found->is_in_kernel = found->is_in_kernel || strstr(hang->places[i].kernel, "spin") != NULL;
    atomic_store(&found->is_complete, 1);
}

static void sleep_ms(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* A recorded list, because loaders before 1.16 cannot tell which lists are immediate. */
static ze_command_list_handle_t record_kernel(const gpu *g, zt_profiler *profiler, const program *p) {
    const ze_group_count_t groups = {1, 1, 1};
    ze_command_list_desc_t description = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, g->compute, 0};
    ze_command_list_handle_t list;

    CHECK(zeCommandListCreate(g->context, g->device, &description, &list));
    ZT_REGION(profiler, list, "wait for the flag")
    CHECK(zeCommandListAppendLaunchKernel(list, p->kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListClose(list));
    return list;
}

/* Runs the kernel until the watch has reported it. Returns whether the result is right. */
static int run_kernel(const gpu *g, zt_profiler *profiler, finding *found) {
    ze_command_queue_desc_t description = gpu_queue_description(g);
    program p = program_load(g, "spin");
    uint32_t *memory = (uint32_t *)gpu_memory(g, (1 + ITEMS) * sizeof *memory), *results = memory + 1;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    int right = 1, turns = 0;

    memset(memory, 0, (1 + ITEMS) * sizeof *memory);
    CHECK(zeKernelSetGroupSize(p.kernel, ITEMS, 1, 1));
    SET_ARGUMENT(p.kernel, 0, memory);
    SET_ARGUMENT(p.kernel, 1, results);
    CHECK(zeCommandQueueCreate(g->context, g->device, &description, &queue));
    list = record_kernel(g, profiler, &p);
    CHECK(zt_execute(profiler, queue, 1, &list, NULL));
    while (!atomic_load(&found->is_complete) && ++turns < MOST_TURNS)
        sleep_ms(1); /* here a program would do something useful */
    printf("%s\n", found->text);
    *(volatile uint32_t *)memory = 1;
    CHECK(zeCommandQueueSynchronize(queue, TIMEOUT_NS));
    for (uint32_t i = 0; i < ITEMS; i++)
        right = right && results[i] == 42;
    zt_release(profiler, list);
    CHECK(zeCommandListDestroy(list));
    CHECK(zeCommandQueueDestroy(queue));
    CHECK(zeMemFree(g->context, memory));
    program_unload(&p);
    return right;
}

int main(int argc, char **argv) {
    zt_watch_config config = zt_watch_config_default();
    zt_profiler *profiler;
    static finding found;
    char path[1024];
    int right;
    gpu g;

    setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 0);
    g = gpu_open(argv[0]);
    profiler = profiler_open(&g, NULL);
    snprintf(path, sizeof path, "%s/run.hang.txt", argc > 1 ? argv[1] : ".");
    config.hang_ns = HANG_MS * UINT64_C(1000000);
    config.path = path;
    config.function = keep_report;
    config.user = &found;
    if (zt_watch(profiler, &config) != ZE_RESULT_SUCCESS)
        print_last_error(profiler);
    right = run_kernel(&g, profiler, &found);
    zt_close(profiler);
    gpu_close(&g);

    printf("results: %s\n", right ? "right" : "WRONG");
    return right && (!found.is_debugged || found.is_in_kernel) ? EXIT_SUCCESS : EXIT_FAILURE;
}
