/* The time to write a report, over that to write the same bytes at once. */
#define ZETOOLS_IMPLEMENTATION
#include "bench.h"

#include <unistd.h>

enum { REGIONS = 10000, INSTANCES = 4, ROUNDS = 5 };

static const char path[] = "build/bench/report.json", copy[] = "build/bench/copy.json";

static void measure_regions(zt_profiler *profiler) {
    ze_command_list_handle_t list = make_list();
    char name[32];
    for (int i = 0; i < REGIONS * INSTANCES; i++) {
        snprintf(name, sizeof name, "region %d", i % REGIONS);
        zt_region region = zt_begin(profiler, list, name);
        zt_end(&region);
        if (i % BATCH == 0)
            CHECK(zt_collect(profiler, 0));
    }
    CHECK(zt_collect(profiler, UINT64_C(10000000000)));
    CHECK(zt_release(profiler, list));
    CHECK(zeCommandListDestroy(list));
}

static char *read_report(size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes;
    NEED(file && fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    rewind(file);
    bytes = (char *)malloc(*size);
    NEED(bytes && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static double time_report(const zt_profiler *profiler) {
    double begin = now_ns();
    CHECK(zt_report(profiler, path));
    return now_ns() - begin;
}

static double time_copy(const char *bytes, size_t size) {
    double begin = now_ns();
    FILE *file = fopen(copy, "wb");
    NEED(file && fwrite(bytes, 1, size, file) == size);
    NEED(fclose(file) == 0);
    return now_ns() - begin;
}

int main(void) {
    zt_config config = zt_config_default();
    zt_profiler *profiler;
    double ratios[ROUNDS], times[ROUNDS];
    char *bytes;
    size_t size;
    open_gpu();
    config.groups = "ComputeBasic,HostScheduler,MemoryProfile";
    config.max_passes = 2;
    config.samples = INSTANCES;
    profiler = open_profiler(&config);
    ZT_PASSES(profiler) {
        measure_regions(profiler);
    }
    time_report(profiler);
    bytes = read_report(&size);
    for (int i = 0; i < ROUNDS; i++) {
        times[i] = time_report(profiler);
        ratios[i] = times[i] / time_copy(bytes, size);
    }
    put_ratio("report", median(ratios, ROUNDS), STATED, 0);
    printf("# %.0f ms for %.1f MB: %d regions of %u metrics\n", median(times, ROUNDS) / 1e6,
           (double)size / 1e6, REGIONS, (unsigned)zt_get_metric_count(profiler));
    free(bytes);
    unlink(path);
    unlink(copy);
    close_profiler(profiler);
    CHECK(zeContextDestroy(gpu.context));
    return EXIT_SUCCESS;
}
