/* A test for CI that fails where a part of a program has become slower.

       regression              measures, and writes run.regression.json
       regression FILE PERCENT measures, and compares with that file: fails where the mean GPU time of a path is higher by
                               more than PERCENT, as far as the samples show: the whole interval of 95% is above it

   Keep the file of a commit that is fast enough. Let CI measure on one machine that does nothing else, and take a tolerance
   that an unchanged program keeps to. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

enum { STEPS = 50, ELEMENTS = 1 << 12, GROUP = 256 };

static void measure(const gpu *g, zt_profiler *profiler) {
    const ze_group_count_t groups = {ELEMENTS / GROUP, 1, 1};
    const uint32_t elements = ELEMENTS;
    const float factor = 1;
    program saxpy = program_load(g, "saxpy");
    immediate work = immediate_open(g);
    float *x = gpu_floats(g, ELEMENTS), *y = gpu_floats(g, ELEMENTS);

    SET_ARGUMENT(saxpy.kernel, 0, y);
    SET_ARGUMENT(saxpy.kernel, 1, x);
    SET_ARGUMENT(saxpy.kernel, 2, factor);
    SET_ARGUMENT(saxpy.kernel, 3, elements);
    CHECK(zeKernelSetGroupSize(saxpy.kernel, GROUP, 1, 1));
    for (int step = 0; step < STEPS; step++) {
        ZT_REGION(profiler, work.list, "saxpy") {
            CHECK(zeCommandListAppendLaunchKernel(work.list, saxpy.kernel, &groups, NULL, 0, NULL));
        }
        immediate_wait(&work);
    }
    zt_collect(profiler, TIMEOUT_NS);
    zt_release(profiler, work.list);
    immediate_close(&work);
    program_unload(&saxpy);
    CHECK(zeMemFree(g->context, x));
    CHECK(zeMemFree(g->context, y));
}

/* Returns how many paths are slower than the tolerance allows. */
static int count_slower(const zt_profiler *profiler, double tolerance) {
    int slower = 0;

    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++) {
        zt_region_info path;
        CHECK(zt_get_region(profiler, ZT_PATH(i), &path));
        if (path.change_low > tolerance) {
            printf("%s is slower by %.1f%% (%.1f%% to %.1f%%)\n", path.name, path.change, path.change_low,
                   path.change_high);
            slower++;
        }
    }
    return slower;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    zt_config config = {0};
    zt_profiler *profiler;
    int slower = 0;

    config.groups = ""; /* times alone */
    config.baseline = argc > 2 ? argv[1] : NULL;
    profiler = profiler_open(&g, &config);
    measure(&g, profiler);
    zt_report(profiler, "-");
    if (argc > 2)
        slower = count_slower(profiler, atof(argv[2]));
    else if (zt_report(profiler, "run.regression.json") != ZE_RESULT_SUCCESS)
        print_last_error();
    zt_close(profiler);
    gpu_close(&g);
    return slower ? EXIT_FAILURE : EXIT_SUCCESS;
}
