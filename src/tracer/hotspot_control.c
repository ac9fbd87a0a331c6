/* zt_hotspots_start, zt_hotspots_stop. */

#include "tracer/hotspot_control.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "modules/loaded.h"
#include "regions/profiler.h"
#include "streams/stream.h"
#include "streams/streamer.h"
#include "streams/streams.h"
#include "tracer/hotspot_lines.h"
#include "tracer/hotspots.h"
#include "tracer/sampled_kernels.h"
#include "tracer/sampling.h"

#ifdef ZETOOLS_TRACER

static void zt__fill_hotspots_config(zt_hotspots_config *config) {
    if (!config->period_ns) {
        config->period_ns = 50000;
    }
    if (!config->memory_limit) {
        config->memory_limit = (size_t)8 << 20;
    }
    if (!config->addresses) {
        config->addresses = 65536;
    }
    if (!config->debug_limit) {
        config->debug_limit = (size_t)64 << 20;
    }
}

/* Frees hot spots that nothing uses any more. */
static void zt__destroy_hotspots(zt__hotspots *hotspots) {
    const zt_allocator allocator = hotspots->allocator;
    uint32_t i;
    while (hotspots->kernels) {
        zt__sampled_kernel *kernel = hotspots->kernels;
        hotspots->kernels = kernel->next;
        zt__free(&allocator, kernel);
    }
    while (hotspots->modules) {
        zt__sampled_module *module = hotspots->modules;
        hotspots->modules = module->next;
        zt__free(&allocator, module->debug);
        zt__free(&allocator, module);
    }
    for (i = 0; i < hotspots->spot_count; i++) {
        zt__free(&allocator, hotspots->spots[i]);
    }
    zt__map_free_values(&hotspots->files, &allocator);
    zt__map_free(&hotspots->spot_map, &allocator);
    zt__free(&allocator, (void *)hotspots->spots);
    zt__free(&allocator, hotspots->places);
    zt__destroy_mutex(&hotspots->reading.mutex);
    zt__destroy_mutex(&hotspots->finding.mutex);
    zt__destroy_mutex(&hotspots->mutex);
    zt__free(&allocator, hotspots);
}

/* Called by zt_close, when nothing is sampled any more. */
static void zt__free_hotspots(zt_profiler *profiler) {
    zt__destroy_hotspots(zt__hotspots_of(profiler));
}

/* Finds how the device can be sampled, and prepares that. */
static ze_result_t zt__open_samples(zt__hotspots *hotspots, zt_stream *stream) {
    zt__diagnostics *diagnostics = &hotspots->profiler->diagnostics;
    const zt__driver *driver = &hotspots->profiler->driver;
    const zt__group *group = &stream->data->group;
    uint32_t i, count = 0;
    uint32_t known = hotspots->has_started ? hotspots->count_count : 0;
    int is_same = 1;
    ze_driver_handle_t handle;
    void *base = NULL, *binary = NULL;
    ze_result_t result;
    /* Where a kernel lies, and what it is, is known to the driver, whose functions a loader may lack. */
    ZT__INTERNAL(handle = zt__find_driver(hotspots->profiler->device));
    if (handle && driver->zeDriverGetExtensionFunctionAddress) {
        zt__change_depth(1);
        driver->zeDriverGetExtensionFunctionAddress(handle, "zexKernelGetBaseAddress", &base);
        driver->zeDriverGetExtensionFunctionAddress(handle, "zeKernelGetBinaryExp", &binary);
        zt__change_depth(-1);
    }
    if (!base) {
        return zt__report(diagnostics, NO_ADDRESSES, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the driver has no zexKernelGetBaseAddress");
    }
    if (!stream->driver.zetMetricGroupCalculateMultipleMetricValuesExp) {
        return zt__report(diagnostics, NO_ADDRESSES, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the loader has no zetMetricGroupCalculateMultipleMetricValuesExp");
    }
    memcpy(&hotspots->get_base, &base, sizeof base);
    memcpy(&hotspots->get_binary, &binary, sizeof binary);
    result = zt__find_stream_group(stream);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__load_stream_metrics(stream);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    /* The metrics of the group are an address, and counts, which have to be those of an earlier start. */
    hotspots->address_metric = UINT32_MAX;
    zt__lock(&hotspots->mutex);
    hotspots->active_count = known ? hotspots->active_count : UINT32_MAX;
    for (i = 0; i < group->metric_count; i++) {
        const zet_metric_properties_t *metric = &group->metrics[i];
        if (metric->metricType == ZET_METRIC_TYPE_IP_EXP) {
            hotspots->address_metric = i;
        } else if (metric->metricType == ZET_METRIC_TYPE_EVENT && count < ZT__MOST_COUNTS &&
                   zt__compare_ignoring_case(metric->resultUnits, "events") == 0) {
            char *name = hotspots->count_names[count];
            if (!known) {
                zt__copy_text(name, sizeof hotspots->count_names[count], metric->name, strlen(metric->name));
            }
            if (!known && strcmp(name, "Active") == 0) {
                hotspots->active_count = count;
            }
            is_same &= strncmp(name, metric->name, sizeof hotspots->count_names[count] - 1) == 0;
            hotspots->count_metrics[count++] = i;
        }
    }
    /* Room for Active is kept, so that there are not more stalls than zt_hotspot_info has. */
    if (hotspots->active_count == UINT32_MAX && count == ZT__MOST_COUNTS) {
        count--;
    }
    is_same &= !known || known == count;
    if (!known) {
        hotspots->count_count = count;
    }
    zt__unlock(&hotspots->mutex);
    if (count == 0 || hotspots->address_metric == UINT32_MAX || !is_same) {
        return zt__report(diagnostics, NO_ADDRESSES, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the metric group has no counts, or others than at the first start");
    }
    result = zt__make_room_for_rows(stream);
    return result == ZE_RESULT_SUCCESS ? zt__open_streamer(stream) : result;
}

/* Starts sampling. `reading` is held, for which the destruction of a kernel waits (zt__before_unload). On
   failure the message was reported. */
static ze_result_t zt__start_sampling(zt__hotspots *hotspots, zt__loaded *loaded) {
    zt__diagnostics *diagnostics = &hotspots->profiler->diagnostics;
    const zt_allocator *allocator = &hotspots->allocator;
    zt_stream_config config;
    uint32_t i, room, count = 0, capacity = hotspots->config.addresses;
    zt__loaded_kernel *kernels;
    zt_stream *stream;
    ze_result_t result;
    memset(&config, 0, sizeof config);
    if (hotspots->stream) {
        return zt__report(diagnostics, SAMPLING_ALREADY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    }
    if (capacity > hotspots->spot_capacity) {
        zt__spot **before = hotspots->spots;
        zt__spot **larger = (zt__spot **)zt__allocate(allocator, capacity, sizeof *larger);
        if (!larger) {
            return zt__report_no_memory(diagnostics, "zt_hotspots_start", "samples");
        }
        zt__lock(&hotspots->mutex);
        if (before) {
            memcpy((void *)larger, (const void *)before, hotspots->spot_count * sizeof *larger);
        }
        hotspots->spots = larger;
        hotspots->spot_capacity = capacity;
        zt__unlock(&hotspots->mutex);
        zt__free(allocator, (void *)before);
    }

    config.period_ns = hotspots->config.period_ns;
    config.memory_limit = hotspots->config.memory_limit;
    config.allocator = *allocator;
    stream = zt__create_stream(hotspots->profiler->context, hotspots->profiler->device, &config);
    if (!stream) {
        return zt__report_no_memory(diagnostics, "zt_hotspots_start", "samples");
    }
    stream->is_of_instructions = 1;
    stream->opened_by = "zt_hotspots_start";
    stream->diagnostics = diagnostics;
    result = zt__open_samples(hotspots, stream);
    if (result != ZE_RESULT_SUCCESS) {
        zt__destroy_stream(stream);
        return result;
    }
    zt__lock(&hotspots->mutex);
    zt__copy_text(hotspots->group, sizeof hotspots->group, stream->info.group, strlen(stream->info.group));
    hotspots->period_ns = stream->info.period_ns;
    hotspots->has_started = 1;
    hotspots->place_count = 0; /* of what was not observed since the last stop */
    hotspots->places_overlap = 0;
    zt__unlock(&hotspots->mutex);
    zt__store(&hotspots->stream, stream);
    zt__store(&loaded->is_sampled, 1);

    /* Kernels that the tracer knows already are placed now, others when they are created. */
    zt__lock(loaded->mutex);
    room = loaded->kernels.count;
    zt__unlock(loaded->mutex);
    kernels = room ? (zt__loaded_kernel *)zt__allocate(allocator, room, sizeof *kernels) : NULL;
    zt__lock(loaded->mutex);
    for (i = 0; i < loaded->kernels.capacity && kernels && count < room; i++) {
        const zt__loaded_kernel *known = (const zt__loaded_kernel *)loaded->kernels.entries[i].value;
        if (known && !known->may_be_destroyed) {
            kernels[count++] = *known;
        }
    }
    zt__unlock(loaded->mutex);
    for (i = 0; i < count; i++) {
        ZT__INTERNAL(zt__place_kernel(hotspots, &kernels[i]));
    }
    zt__free(allocator, kernels);

    if (!hotspots->config.no_thread &&
        !zt__start_thread(&stream->thread, zt__run_sampling_thread, hotspots)) {
        hotspots->config.no_thread = 1; /* zt_collect reads */
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__stop_sampling(zt_profiler *profiler, const char *call) {
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    zt_stream *stream = hotspots ? zt__load(&hotspots->stream) : NULL;
    /* In a forked child, threads that do not exist there may hold the locks. */
    if (!stream || stream->process != zt__find_process()) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_owner(&hotspots->reading)) {
        return zt__report(&profiler->diagnostics, STILL_SAMPLING, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    if (!zt__begin_reading(hotspots)) {
        if (!zt__load(&hotspots->stream)) {
            return ZE_RESULT_SUCCESS; /* another thread has stopped it */
        }
        return zt__report(&profiler->diagnostics, STILL_SAMPLING, ZE_RESULT_NOT_READY, call);
    }
    stream = hotspots->stream;
    if (!zt__stop_thread(&stream->thread)) {
        zt__unlock_timed(&hotspots->reading);
        return zt__report(&profiler->diagnostics, STILL_SAMPLING, ZE_RESULT_NOT_READY, call);
    }
    zt__read_samples(hotspots);
    zt__keep_debug_info(hotspots, NULL, 1);
    zt__store(&hotspots->stream, (zt_stream *)NULL);
    zt__destroy_stream(stream);
    zt__unlock_timed(&hotspots->reading);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_hotspots_start(zt_profiler *profiler, const zt_hotspots_config *config) {
    const char *call = "zt_hotspots_start";
    zt__loaded *loaded = profiler ? (zt__loaded *)zt__load(&profiler->loaded) : NULL;
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    zt__message_text refusal;
    ze_result_t result;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!loaded || !zt__load(&loaded->is_observed)) {
        return zt__report(&profiler->diagnostics, NOT_TRACING, ZE_RESULT_NOT_READY);
    }
    if (!hotspots) { /* it is the first start */
        hotspots = (zt__hotspots *)zt__allocate(&profiler->config.allocator, 1, sizeof *hotspots);
        if (!hotspots) {
            return zt__report_no_memory(&profiler->diagnostics, call, "samples");
        }
        hotspots->profiler = profiler;
        hotspots->allocator = profiler->config.allocator;
        zt__create_mutex(&hotspots->reading.mutex);
        zt__create_mutex(&hotspots->finding.mutex);
        zt__create_mutex(&hotspots->mutex);
        zt__lock(&profiler->mutex);
        if (!profiler->hotspots) {
            profiler->free_hotspots = zt__free_hotspots;
            zt__store(&profiler->hotspots, hotspots);
            hotspots = NULL;
        }
        zt__unlock(&profiler->mutex);
        if (hotspots) { /* another thread was faster */
            zt__destroy_hotspots(hotspots);
        }
        hotspots = zt__hotspots_of(profiler);
    }
    if (!zt__lock_until(&hotspots->reading, zt__deadline(profiler->config.wait_timeout_ns))) {
        return zt__report(&profiler->diagnostics, STILL_SAMPLING, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    if (!hotspots->stream) {
        zt__copy_config(&hotspots->config, config, sizeof hotspots->config);
        zt__fill_hotspots_config(&hotspots->config);
    }
    result = zt__start_sampling(hotspots, loaded);
    zt__unlock_timed(&hotspots->reading);
    if (result == ZE_RESULT_SUCCESS) {
        zt__lock(&hotspots->mutex);
        memset(&hotspots->refusal, 0, sizeof hotspots->refusal);
        zt__unlock(&hotspots->mutex);
        zt__store(&profiler->collect_hotspots, &zt__collect_hotspots);
        return result;
    }
    zt__lock(&profiler->mutex);
    refusal = profiler->diagnostics.last;
    zt__unlock(&profiler->mutex);
    zt__lock(&hotspots->mutex);
    hotspots->refusal = refusal;
    zt__unlock(&hotspots->mutex);
    return result;
}

ZT_API ze_result_t zt_hotspots_stop(zt_profiler *profiler) {
    const char *call = "zt_hotspots_stop";
    ze_result_t result = zt__stop_sampling(profiler, call);
    if (result == ZE_RESULT_SUCCESS && profiler && !zt__is_sampling(profiler)) { /* as in a forked child */
        result = zt__find_hotspot_lines(profiler, call, zt__deadline(profiler->config.wait_timeout_ns));
    }
    return result;
}

#endif
