/* Finds the costly line of a kernel: samples where its instructions are, and looks up their source lines with
   addr2line or llvm-symbolizer. Writes run.html, which has the source with its samples beside each line. Most
   devices and drivers sample instructions only if the driver has a metric group such as EuStallSampling.
   Loaders before 1.15.7 want ZE_ENABLE_TRACING_LAYER=1 in the environment; `make run-hotspots` sees to that.

       make run-hotspots */
#define ZETOOLS_TRACER
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum { ELEMENTS = 1 << 12, GROUP = 256, STEPS = 2000, ENOUGH = 200, PATIENCE = 100 };

static float element(uint32_t i) {
    return 1.0f + 0.5f * (float)i;
}

/* Launches the kernel until there are enough samples, or none came with many launches; on a device that takes none,
   once. Returns whether the results are right. */
static int run_kernel(const gpu *g, const zt_profiler *profiler, int is_sampled) {
    const ze_group_count_t groups = {ELEMENTS / GROUP, 1, 1};
    const uint32_t count = ELEMENTS, steps = STEPS;
    program p = program_load(g, "cbrt");
    immediate work = immediate_open(g);
    float *roots = gpu_floats(g, (size_t)2 * ELEMENTS), *a = roots + ELEMENTS;
    uint64_t samples = 0;
    int in_vain = 0, right = 1;

    for (uint32_t i = 0; i < ELEMENTS; i++)
        a[i] = element(i);
    CHECK(zeKernelSetGroupSize(p.kernel, GROUP, 1, 1));
    SET_ARGUMENT(p.kernel, 0, roots);
    SET_ARGUMENT(p.kernel, 1, a);
    SET_ARGUMENT(p.kernel, 2, count);
    SET_ARGUMENT(p.kernel, 3, steps);
    while (samples < ENOUGH && in_vain < PATIENCE) {
        const uint64_t before = samples;
        CHECK(zeCommandListAppendLaunchKernel(work.list, p.kernel, &groups, NULL, 0, NULL));
        immediate_wait(&work);
        if (!is_sampled)
            break;
        samples = zt_get_info(profiler).hotspots.matched;
        in_vain = samples > before ? 0 : in_vain + 1;
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        float cube = roots[i] * roots[i] * roots[i];
        right = right && cube > 0.999f * a[i] && cube < 1.001f * a[i];
    }
    CHECK(zeMemFree(g->context, roots));
    immediate_close(&work);
    program_unload(&p);
    return right;
}

/* Returns the samples of all instructions of the source line of one. */
static uint64_t samples_of_line(const zt_profiler *profiler, const zt_hotspot_info *of) {
    uint64_t samples = 0;

    for (uint32_t i = 0; i < zt_get_info(profiler).hotspot_count; i++) {
        zt_hotspot_info info;
        CHECK(zt_get_hotspot(profiler, i, &info));
        if (info.line == of->line && strcmp(info.file, of->file) == 0)
            samples += info.samples;
    }
    return samples;
}

/* Stores the text of a source line; "" if the file cannot be read. */
static void read_line(const char *path, uint32_t line, char *text, size_t size) {
    FILE *file = fopen(path, "r");

    text[0] = 0;
    for (uint32_t i = 0; file && i < line; i++)
        if (!fgets(text, (int)size, file))
            text[0] = 0;
    if (file)
        fclose(file);
}

/* Returns whether the line with the most samples is the costly one. Without lines, nobody knows. */
static int costly_line_is_on_top(zt_profiler *profiler) {
    zt_hotspot_info top;
    uint64_t most = 0;
    char text[256];

    memset(&top, 0, sizeof top);
    for (uint32_t i = 0; i < zt_get_info(profiler).hotspot_count; i++) {
        zt_hotspot_info info;
        CHECK(zt_get_hotspot(profiler, i, &info));
        if (info.line && samples_of_line(profiler, &info) > most) {
            most = samples_of_line(profiler, &info);
            top = info;
        }
    }
    if (!most) {
        printf("\nno source line is known\n");
        return 1;
    }
    read_line(top.file, top.line, text, sizeof text);
    printf("\n%s:%u has most samples:\n%s", top.file, (unsigned)top.line, text);
    return strstr(text, "the costly line") != NULL;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    zt_config config = {0};
    zt_trace_config trace = {0};
    zt_profiler *profiler;
    int is_sampled, right, found = 1, written = 1;

    config.groups = ""; /* regions have times alone */
    profiler = profiler_open(&g, &config);
    is_sampled = profiler && zt_trace_start(profiler, &trace) == ZE_RESULT_SUCCESS &&
                 zt_hotspots_start(profiler, NULL) == ZE_RESULT_SUCCESS;
    if (!is_sampled)
        print_last_error();
    right = run_kernel(&g, profiler, is_sampled);
    zt_hotspots_stop(profiler);
    zt_trace_stop(profiler);
    zt_collect(profiler, TIMEOUT_NS);

    printf("results: %s\n\n", right ? "right" : "WRONG");
    if (is_sampled) {
        zt_report(profiler, "-");
        written = profiler_report_in(profiler, argc > 1 ? argv[1] : ".", "run.html");
        found = costly_line_is_on_top(profiler);
    }
    zt_close(profiler);
    gpu_close(&g);
    return right && found && written ? EXIT_SUCCESS : EXIT_FAILURE;
}
