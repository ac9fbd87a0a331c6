/* Finds where a kernel hangs. The kernel waits for a flag that nobody sets. The program goes on meanwhile, and
   a watch reports which region hangs, also to run.hang.txt. Then this program, once more, stops the threads of
   the device by a debugger, prints at which line they are, and resumes them. At last the program sets the
   flag, so that the kernel ends with the right result. The debugger needs ZET_ENABLE_PROGRAM_DEBUGGING=1 in
   the environment. Where a device has no program debug, drivers refuse to start with it. See PROGRAM DEBUG in
   zetools.h. */
#define _GNU_SOURCE /* popen */
#define ZETOOLS_DEBUG
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 64, HANG_MS = 300, MOST_TURNS = 10000, MOST_THREADS = 64 };

/* ---- the debugger: "hang PID" ---------------------------------------------------------------------------- */

/* Prints where the threads of the device are that belong to a process. */
static int debug_process(const char *name, uint32_t process) {
    const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
    zt_debug_thread_info threads[MOST_THREADS];
    uint32_t count = MOST_THREADS;
    zt_debugger *debugger;
    zt_debug_stops stops;
    gpu g = gpu_open(name);

    if (zt_debug_open(g.device, process, NULL, &debugger) != ZE_RESULT_SUCCESS) {
        printf("%s\n", zt_last_error(NULL));
        return EXIT_FAILURE;
    }
    if (zt_debug_stop(debugger, all, 1000000000, &stops) != ZE_RESULT_SUCCESS ||
        zt_debug_get_threads(debugger, threads, &count) != ZE_RESULT_SUCCESS) {
        printf("%s\n", zt_last_error(NULL));
        count = 0;
    }
    for (uint32_t i = 0; i < count && i < MOST_THREADS; i++) {
        zt_debug_place place;

        if (zt_debug_where(debugger, threads[i].address, &place) == ZE_RESULT_SUCCESS)
            printf("a thread is in %s+0x%llx  %s:%u\n", place.kernel, (unsigned long long)place.offset,
                   place.file, (unsigned)place.line);
    }
    zt_debug_close(debugger); /* resumes the threads */
    gpu_close(&g);
    return EXIT_SUCCESS;
}

/* Runs this program as the debugger, and prints what it prints. */
static void run_debugger(const char *name) {
    char command[2048], line[1024];
    FILE *output;

    snprintf(command, sizeof command, "'%s' %ld", name, (long)getpid());
    output = popen(command, "r");
    while (output && fgets(line, sizeof line, output))
        printf("%s", line);
    if (output)
        pclose(output);
}

/* ---- the program that hangs ------------------------------------------------------------------------------ */

/* What the watch has found. */
typedef struct finding {
    char text[1 << 14];
    atomic_int is_complete;
} finding;

/* Called on the thread of the watch. */
static void keep_report(const zt_hang *hang, void *user) {
    finding *found = (finding *)user;

    if (atomic_load(&found->is_complete))
        return;
    snprintf(found->text, sizeof found->text, "%s", hang->text);
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
static int run_kernel(const char *name, const gpu *g, zt_profiler *profiler, finding *found) {
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
    fflush(stdout);
    run_debugger(name);
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
    zt_watch_config config = {0};
    zt_profiler *profiler;
    static finding found;
    char path[1024];
    int right;
    gpu g;

    if (argc > 1 && atoi(argv[1]) > 0)
        return debug_process(argv[0], (uint32_t)atoi(argv[1]));
    g = gpu_open(argv[0]);
    profiler = profiler_open(&g, NULL);
    snprintf(path, sizeof path, "%s/run.hang.txt", argc > 1 ? argv[1] : ".");
    config.hang_ns = HANG_MS * UINT64_C(1000000);
    config.path = path;
    config.function = keep_report;
    config.user = &found;
    if (zt_watch(profiler, &config) != ZE_RESULT_SUCCESS)
        print_last_error();
    right = run_kernel(argv[0], &g, profiler, &found);
    zt_close(profiler);
    gpu_close(&g);

    printf("results: %s\n", right ? "right" : "WRONG");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
