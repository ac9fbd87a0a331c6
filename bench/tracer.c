/* What a tracer costs a program whose launches it leaves alone: an idle one, which filters everything out,
   one that was stopped, and one of zt_auto that waits for a signal. Programs of the same launches take turns:
   untraced, with the tracing layer off; with the layer on, and nothing in it; with empty callbacks in the layer,
   which is what the loader itself costs; idle; stopped; waiting for the first signal; for the third. Each is a process
   of its own, for loaders before 1.15.7 turn the layer on as they are initialised. */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 9, BLOCKS = 9, LISTS = 50 /* of a block */, LAUNCHES = 64 /* of a list */ };

typedef enum mode { UNTRACED, LAYER, EMPTY, IDLE, STOPPED, WAITING, LOOKED_AT, MODES } mode;

typedef struct launcher {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
} launcher;

/* ---- the program ----------------------------------------------------------------------------------------- */

/* Nothing is executed, so that the calls alone count. */
static void run_lists(launcher *l, uint32_t lists) {
    const ze_group_count_t one = {1, 1, 1};
    void *nothing = NULL;
    uint32_t zero = 0;
    for (uint32_t i = 0; i < 4; i++)
        CHECK(zeKernelSetArgumentValue(l->kernel, i, i < 2 ? sizeof nothing : sizeof zero,
                                       i < 2 ? (void *)&nothing : (void *)&zero));
    for (uint32_t i = 0; i < lists; i++) {
        for (uint32_t n = 0; n < LAUNCHES; n++)
            CHECK(zeCommandListAppendLaunchKernel(l->list, l->kernel, &one, NULL, 0, NULL));
        CHECK(zeCommandListReset(l->list));
    }
}

static void do_nothing(ze_command_list_append_launch_kernel_params_t *parameters, ze_result_t result,
                       void *user, void **instance) {
    (void)parameters, (void)result, (void)user, (void)instance;
}

/* The loader's layer alone, around the same launches. */
static void enable_layer(void) {
    ze_result_t(ZE_APICALL * enable)(void);
    zt__find_loader_symbol("zelEnableTracingLayer", &enable);
    if (enable)
        CHECK(enable());
}

static void register_empty_callbacks(void) {
    zel_tracer_desc_t desc = {ZEL_STRUCTURE_TYPE_TRACER_DESC, NULL, NULL};
    zel_tracer_handle_t tracer;
    CHECK(zelTracerCreate(&desc, &tracer));
    CHECK(zelTracerCommandListAppendLaunchKernelRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, do_nothing));
    CHECK(zelTracerCommandListAppendLaunchKernelRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, do_nothing));
    CHECK(zelTracerSetEnabled(tracer, 1));
}

/* Sends the signal, and waits until tracing has begun or ended. */
static void signal_auto(int is_traced) {
    int is_done = 0;
    NEED(raise(SIGUSR2) == 0);
    while (!is_done) {
        zt__lock_until(&zt__beginning, UINT64_MAX);
        is_done = (zt__automatic.tracer != NULL) == is_traced;
        zt__unlock_timed(&zt__beginning);
    }
}

static void trace(mode wanted, zt_profiler *profiler, launcher *l) {
    zt_trace_config config = {0};
    config.names = "!*";
    if (wanted == UNTRACED)
        return;
    if (wanted == LAYER || wanted == EMPTY) {
        enable_layer();
        if (wanted == EMPTY)
            register_empty_callbacks();
        return;
    }
    if (wanted == WAITING || wanted == LOOKED_AT) {
        setenv("ZT_AUTO", "/dev/null", 1);
        setenv("ZT_AUTO_SIGNAL", "USR2", 1);
        CHECK(zt_auto(NULL));
        if (wanted == LOOKED_AT) {
            signal_auto(1);
            run_lists(l, 1);
            signal_auto(0);
        }
        return;
    }
    CHECK(zt_trace_start(profiler, &config));
    if (wanted == STOPPED)
        CHECK(zt_trace_stop(profiler));
}

/* Nanoseconds a launch, in a program of that mode. */
static double measure(mode wanted, const char *program) {
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
    zt_profiler *profiler;
    launcher l;
    double took[BLOCKS];
    open_gpu();
    profiler = open_profiler(NULL);
    load_kernel(program, "saxpy", &l.module, &l.kernel);
    CHECK(zeCommandListCreate(gpu.context, gpu.device, &desc, &l.list));
    trace(wanted, profiler, &l);
    run_lists(&l, LISTS);
    for (int i = 0; i < BLOCKS; i++) {
        double begin = processor_ns();
        run_lists(&l, LISTS);
        took[i] = processor_ns() - begin;
    }
    zt_close(profiler);
    CHECK(zeCommandListDestroy(l.list));
    CHECK(zeKernelDestroy(l.kernel));
    CHECK(zeModuleDestroy(l.module));
    CHECK(zeContextDestroy(gpu.context));
    return median(took, BLOCKS) / LISTS / LAUNCHES;
}

/* ---- a process for each ---------------------------------------------------------------------------------- */

static double measure_in_process(mode wanted, const char *program) {
    double took = 0;
    int ends[2], status = -1;
    pid_t child;
    NEED(pipe(ends) == 0);
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        void *enable;
        zt__find_loader_symbol("zelEnableTracingLayer", &enable);
        if (wanted != UNTRACED && !enable)
            setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
        took = measure(wanted, program);
        exit(write(ends[1], &took, sizeof took) == sizeof took ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(ends[1]);
    NEED(read(ends[0], &took, sizeof took) == sizeof took);
    close(ends[0]);
    NEED(waitpid(child, &status, 0) == child && status == 0);
    return took;
}

int main(int argc, char **argv) {
    double times[MODES][ROUNDS], ratios[MODES][ROUNDS];
    (void)argc;
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    for (int i = 0; i < ROUNDS; i++)
        for (mode m = UNTRACED; m < MODES; m++) {
            times[m][i] = measure_in_process(m, argv[0]);
            ratios[m][i] = times[m][i] / times[UNTRACED][i];
        }
    printf("a launch: untraced %.0f ns, empty callbacks %.0f ns, ", median(times[UNTRACED], ROUNDS),
           median(times[EMPTY], ROUNDS));
    printf("idle tracer %.0f ns, stopped tracer %.0f ns, empty layer %.0f ns, ", median(times[IDLE], ROUNDS),
           median(times[STOPPED], ROUNDS), median(times[LAYER], ROUNDS));
    printf("waiting for a signal %.0f ns, after a look %.0f ns\n", median(times[WAITING], ROUNDS),
           median(times[LOOKED_AT], ROUNDS));
    put_ratio("tracer_layer", median(ratios[EMPTY], ROUNDS), STATED, 0);
    put_ratio("tracer_idle", median(ratios[IDLE], ROUNDS), STATED, 0);
    put_ratio("tracer_stopped", median(ratios[STOPPED], ROUNDS), STATED, 0);
    put_ratio("tracer_waiting", median(times[WAITING], ROUNDS) - median(times[LAYER], ROUNDS), AT_MOST, 20);
    put_ratio("tracer_looked_at", median(times[LOOKED_AT], ROUNDS) - median(times[LAYER], ROUNDS), AT_MOST,
              20);
    return EXIT_SUCCESS;
}
