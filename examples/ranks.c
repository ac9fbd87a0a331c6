/* A program of several processes, each with its own profiler, as on many nodes: each packs its statistics
   into a flat buffer, the first gathers them with MPI, and prints what the ranks have in common and who was
   slowest. */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

#include <mpi.h>

enum { STEPS = 50, GROUP = 256, ELEMENTS = 1 << 12 };

/* ---- the work of one rank: a later rank has more of it --------------------------------------------------- */

static int measure(const gpu *g, zt_profiler *profiler, int rank) {
    const uint32_t elements = ELEMENTS * (uint32_t)(rank + 1);
    const ze_group_count_t groups = {elements / GROUP, 1, 1};
    const float factor = 1;
    program saxpy = program_load(g, "saxpy");
    immediate work = immediate_open(g);
    float *x = gpu_floats(g, elements), *y = gpu_floats(g, elements);
    int right = 1;

    for (uint32_t i = 0; i < elements; i++)
        x[i] = 1, y[i] = 0;
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
        zt_collect(profiler, 0);
    }
    for (uint32_t i = 0; i < elements; i++)
        right &= y[i] == (float)STEPS;
    zt_collect(profiler, TIMEOUT_NS);
    zt_release(profiler, work.list);
    immediate_close(&work);
    program_unload(&saxpy);
    CHECK(zeMemFree(g->context, x));
    CHECK(zeMemFree(g->context, y));
    return right;
}

/* ---- gathering ------------------------------------------------------------------------------------------- */

static void *room(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return memory;
}

/* Every rank's statistics, on the first rank; NULL elsewhere. */
static zt_profiler **gather(const zt_profiler *profiler, int rank, int ranks) {
    size_t size = 0;
    int mine, all = 0, *sizes = (int *)room((size_t)ranks * sizeof(int));
    int *places = (int *)room((size_t)ranks * sizeof(int));
    zt_profiler **gathered = (zt_profiler **)room((size_t)ranks * sizeof(zt_profiler *));
    char *packed, *buffer;

    CHECK(zt_pack(profiler, NULL, &size));
    packed = (char *)room(size);
    CHECK(zt_pack(profiler, packed, &size));
    mine = (int)size;
    MPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++) {
        places[i] = all;
        all += sizes[i];
    }
    buffer = (char *)room((size_t)all);
    MPI_Gatherv(packed, mine, MPI_BYTE, buffer, sizes, places, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++)
        if (zt_unpack(buffer + places[i], (size_t)sizes[i], NULL, &gathered[i]) != ZE_RESULT_SUCCESS)
            print_last_error();
    if (rank != 0) {
        free((void *)gathered);
        gathered = NULL;
    }
    free(packed), free(buffer), free(sizes), free(places);
    return gathered;
}

/* ---- what the ranks have in common ----------------------------------------------------------------------- */

static double mean_time(const zt_profiler *profiler, const char *name) {
    zt_region_info info;
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++)
        if (zt_get_region(profiler, i, &info) == ZE_RESULT_SUCCESS && strcmp(info.name, name) == 0)
            return info.time_ns.mean;
    return -1;
}

static int by_value(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print_region(zt_profiler *const *gathered, int ranks, const char *name) {
    double *times = (double *)room((size_t)ranks * sizeof(double));
    int slowest = 0, found = 0;

    for (int i = 0; i < ranks; i++) {
        double time = mean_time(gathered[i], name);
        if (time < 0)
            continue;
        if (time > mean_time(gathered[slowest], name))
            slowest = i;
        times[found++] = time;
    }
    qsort(times, (size_t)found, sizeof *times, by_value);
    printf("%-12s %6d %12.3f %12.3f %12.3f   rank %d\n", name, found, times[0] / 1e3,
           (times[(found - 1) / 2] + times[found / 2]) / 2e3, times[found - 1] / 1e3, slowest);
    free(times);
}

/* Everything of all ranks in one, and what each region took on them. Returns whether nothing is missing. */
static int print_all(zt_profiler **gathered, int ranks) {
    zt_region_info info;

    printf("GPU time of a region, means of the ranks, in us\n");
    printf("%-12s %6s %12s %12s %12s   %s\n", "region", "ranks", "minimum", "median", "maximum", "slowest");
    for (uint32_t i = 0; i < zt_get_info(gathered[0]).region_count; i++)
        if (zt_get_region(gathered[0], i, &info) == ZE_RESULT_SUCCESS)
            print_region(gathered, ranks, info.name);
    for (int i = 1; i < ranks; i++)
        CHECK(zt_merge(gathered[0], gathered[i]));
    printf("\nall ranks together\n");
    profiler_report(gathered[0], "-");
    return zt_get_info(gathered[0]).counts.collected == (uint64_t)ranks * STEPS;
}

int main(int argc, char **argv) {
    int rank, ranks, right, all_right = 0;
    zt_profiler *profiler, **gathered;
    gpu g;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    g = gpu_open(argv[0]);
    profiler = profiler_open(&g, NULL);
    right = measure(&g, profiler, rank);
    gathered = gather(profiler, rank, ranks);
    if (gathered) {
        right &= print_all(gathered, ranks);
        for (int i = 0; i < ranks; i++)
            zt_close(gathered[i]);
        free((void *)gathered);
    }
    zt_close(profiler);
    gpu_close(&g);
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Finalize();
    if (!all_right && rank == 0)
        fprintf(stderr, "a result is wrong, or an instance is missing\n");
    return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
