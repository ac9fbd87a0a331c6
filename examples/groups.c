/* Lists the metric groups of the device, and their metrics.

       groups            every group, and every metric of it
       groups NAME...    the metrics of these groups as the profiler measures them */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

static int print_bytes(const void *bytes, size_t size, void *unused) {
    (void)unused;
    return fwrite(bytes, 1, size, stdout) != size;
}

static int print_all(const gpu *g) {
    ze_result_t result = zt_write_groups(g->device, 1, print_bytes, NULL);
    if (result != ZE_RESULT_SUCCESS)
        print_last_error();
    return result == ZE_RESULT_SUCCESS;
}

static const char *aggregation_name(zt_aggregation aggregation) {
    switch (aggregation) {
    case ZT_AGGREGATE_SUM:
        return "sum";
    case ZT_AGGREGATE_MEAN:
        return "mean";
    case ZT_AGGREGATE_FLAG:
        return "flag";
    case ZT_AGGREGATE_NONE:
        break;
    }
    return "none";
}

static int print_group(const gpu *g, const char *name) {
    zt_config config = {0};
    zt_profiler *profiler;

    config.groups = name;
    config.require_metrics = 1;
    profiler = profiler_open(g, &config);
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        printf("%-52s %-8s %-4s %s\n", metric->name, metric->units, aggregation_name(metric->aggregation),
               metric->description);
    }
    zt_close(profiler);
    return profiler != NULL;
}

int main(int argc, char **argv) {
    gpu g = gpu_open(argv[0]);
    int ok = argc > 1 || print_all(&g);

    for (int i = 1; i < argc; i++)
        ok = print_group(&g, argv[i]) && ok;
    gpu_close(&g);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
