// GPU time and metrics of a region in google/benchmark: manual time, and user counters.
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

#include <benchmark/benchmark.h>
#include <cmath>
#include <string>

namespace {

const uint32_t most_elements = 1 << 16, group_size = 256;

struct device {
    gpu g;
    zt_profiler *profiler;
    program saxpy;
    immediate work;
    float *x, *y;
    uint64_t runs; // each adds 1 to the first elements
};

device *the_device;

void run_saxpy(device *d, const char *region, uint32_t elements) {
    const ze_group_count_t groups = {elements / group_size, 1, 1};
    const float factor = 1;
    SET_ARGUMENT(d->saxpy.kernel, 2, factor);
    SET_ARGUMENT(d->saxpy.kernel, 3, elements);
    {
        ZT_SCOPE(d->profiler, d->work.list, region);
        CHECK(zeCommandListAppendLaunchKernel(d->work.list, d->saxpy.kernel, &groups, nullptr, 0, nullptr));
    }
    immediate_wait(&d->work);
    d->runs++;
}

// The GPU time of a region so far, in seconds.
double time_so_far(const zt_profiler *profiler, const char *region) {
    zt_region_info info;
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++)
        if (zt_get_region(profiler, i, &info) == ZE_RESULT_SUCCESS && !strcmp(info.name, region) &&
            info.time_ns.count)
            return info.time_ns.sum * 1e-9;
    return 0;
}

// A metric becomes a counter with its unit: in units a second where it adds up, else the mean, such as a
// share.
void add_counter(benchmark::State &state, const zt_profiler *profiler, const char *region, const char *name) {
    zt_region_info info;
    const uint32_t index = zt_find_metric(profiler, name);
    const zt_metric *metric = zt_get_metric(profiler, index);
    for (uint32_t i = 0; metric && i < zt_get_info(profiler).region_count; i++)
        if (zt_get_region(profiler, i, &info) == ZE_RESULT_SUCCESS && !strcmp(info.name, region)) {
            zt_stats stats;
            if (zt_get_stats(profiler, i, index, &stats) != ZE_RESULT_SUCCESS)
                continue;
            const std::string units = strcmp(metric->units, "percent") ? metric->units : "%";
            const std::string per = metric->aggregation == ZT_AGGREGATE_SUM ? "/s" : "";
            if (!std::isnan(stats.rate))
                state.counters[name + (" " + units) + per] = stats.rate;
        }
}

void saxpy(benchmark::State &state) {
    const uint32_t elements = static_cast<uint32_t>(state.range(0));
    const std::string region = "saxpy/" + std::to_string(elements);
    for (auto _ : state) {
        (void)_;
        const double before = time_so_far(the_device->profiler, region.c_str());
        run_saxpy(the_device, region.c_str(), elements);
        zt_collect(the_device->profiler, TIMEOUT_NS);
        state.SetIterationTime(time_so_far(the_device->profiler, region.c_str()) - before);
    }
    // Not by SetBytesProcessed, which shows binary prefixes beside the decimal ones of counters.
    const double items = static_cast<double>(state.iterations()) * elements;
    state.counters["bytes"] = benchmark::Counter(items * 3 * sizeof(float), benchmark::Counter::kIsRate);
    state.counters["items"] = benchmark::Counter(items, benchmark::Counter::kIsRate);
    add_counter(state, the_device->profiler, region.c_str(), "GPU_MEMORY_BYTE_READ");
    add_counter(state, the_device->profiler, region.c_str(), "GPU_BUSY");
}

BENCHMARK(saxpy)->UseManualTime()->MinTime(0.01)->Range(1 << 10, most_elements);

} // namespace

int main(int argc, char **argv) {
    device d = {};
    bool right;
    d.g = gpu_open(argv[0]);
    d.profiler = profiler_open(&d.g, nullptr);
    d.saxpy = program_load(&d.g, "saxpy");
    d.work = immediate_open(&d.g);
    d.x = gpu_floats(&d.g, most_elements);
    d.y = gpu_floats(&d.g, most_elements);
    for (uint32_t i = 0; i < most_elements; i++)
        d.x[i] = 1, d.y[i] = 0;
    SET_ARGUMENT(d.saxpy.kernel, 0, d.y);
    SET_ARGUMENT(d.saxpy.kernel, 1, d.x);
    CHECK(zeKernelSetGroupSize(d.saxpy.kernel, group_size, 1, 1));
    the_device = &d;

    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();

    right = d.y[0] == static_cast<float>(d.runs);
    zt_close(d.profiler);
    immediate_close(&d.work);
    program_unload(&d.saxpy);
    CHECK(zeMemFree(d.g.context, d.x));
    CHECK(zeMemFree(d.g.context, d.y));
    gpu_close(&d.g);
    if (!right)
        fprintf(stderr, "wrong result\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
