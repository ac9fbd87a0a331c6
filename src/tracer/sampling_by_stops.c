/* Hot spots where the device cannot sample: threads are stopped and looked at. */

#include "tracer/sampling_by_stops.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "base/threads.h"
#include "debug/debugger.h"
#include "streams/stream.h"
#include "tracer/hotspots.h"
#include "tracer/sampling.h"

#ifdef ZETOOLS_TRACER

#ifdef ZETOOLS_DEBUG

/* The debugger and its memory are used by one thread of the library: while it runs, by no other. It waits for
   events between two stops, because a module does not run before its event is acknowledged. */

ZT__PRIVATE void zt__end_stops(zt__hotspots *hotspots) {
    zt_debug_close(hotspots->debugger);
    zt__free(&hotspots->allocator, hotspots->stopped);
    zt__free(&hotspots->allocator, hotspots->addresses);
    hotspots->debugger = NULL;
    hotspots->stopped = NULL;
    hotspots->addresses = NULL;
}

ZT__PRIVATE int zt__run_stopping_thread(void *user) {
    enum { SLICE_NS = 5000000, LONGEST_STOP_NS = 200000000, MOST_ATTEMPTS = 3 };
    const zt_debug_thread all = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};
    const uint64_t one = 1, unit = UINT64_C(1) << ZT__ADDRESS_SHIFT;
    zt__hotspots *hotspots = (zt__hotspots *)user;
    zt__diagnostics *diagnostics = &hotspots->profiler->diagnostics;
    zt_debugger *debugger = hotspots->debugger;
    zt_stream *stream = hotspots->stream; /* it is closed after this thread has ended */
    const uint64_t period_ns = hotspots->period_ns;
    uint64_t next = zt__now_ns() + period_ns;
    int is_lost = 0;
    while (!is_lost && !zt__load(&stream->thread.stop_requested)) {
        uint64_t now = zt__now_ns(), taken;
        uint32_t i, count = hotspots->stopped_room, read = 0, attempts = 0;
        ze_result_t result, resumed;
        if (now < next) {
            uint64_t rest = next - now;
            zt_debug_wait(debugger, rest < SLICE_NS ? rest : (uint64_t)SLICE_NS, NULL, NULL);
            continue;
        }
        if (!zt__try_lock(&hotspots->reading)) {
            next = now + SLICE_NS;
            continue;
        }
        result = zt_debug_stop(debugger, all, LONGEST_STOP_NS, NULL);
        if (result == ZE_RESULT_SUCCESS) {
            result = zt_debug_threads(debugger, hotspots->stopped, &count);
        }
        count = count < hotspots->stopped_room ? count : hotspots->stopped_room;
        for (i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
            result = zt_debug_get_address(debugger, hotspots->stopped[i], &hotspots->addresses[read]);
            read += result == ZE_RESULT_SUCCESS;
        }
        do {
            resumed = zt_debug_resume(debugger, all);
        } while (resumed != ZE_RESULT_SUCCESS && resumed != ZE_RESULT_ERROR_NOT_AVAILABLE &&
                 ++attempts < MOST_ATTEMPTS);
        for (i = 0; i < read; i++) {
            zt__add_samples(hotspots, (uint32_t)(hotspots->addresses[i] & ~(unit - 1)), &one);
        }
        is_lost =
            debugger->is_over || attempts == MOST_ATTEMPTS || zt__is_device_lost(&debugger->diagnostics);
        if (result != ZE_RESULT_SUCCESS) {
            zt__lock(&hotspots->mutex);
            hotspots->counts.drops++;
            zt__unlock(&hotspots->mutex);
        }
        if (is_lost) {
            zt__report(diagnostics, STOPS_ENDED, ZE_RESULT_WARNING_DROPPED_DATA,
                       zt_debug_get_last_error(debugger));
        } else if (result != ZE_RESULT_SUCCESS) {
            zt__report(diagnostics, STOP_UNANSWERED, ZE_RESULT_WARNING_DROPPED_DATA,
                       zt_debug_get_last_error(debugger));
        }
        zt__unlock_timed(&hotspots->reading);
        /* Threads run for at least as long as they were stopped. */
        taken = zt__now_ns() - now;
        next = zt__now_ns() + (taken < period_ns / 2 ? period_ns - taken : taken);
    }
    zt__end_stops(hotspots);
    return 0;
}
#endif

ZT__PRIVATE ze_result_t zt__start_stops(zt__hotspots *hotspots, zt_stream *stream) {
    zt__diagnostics *diagnostics = &hotspots->profiler->diagnostics;
#ifdef ZETOOLS_DEBUG
    enum { MOST_STOPS = 1000, MOST_THREADS = 65536, WAIT_NS = 500000000 };
    const char *name = "Stopped";
    zt_debug_config config;
    memset(&config, 0, sizeof config);
    uint32_t stops = hotspots->config.stops_a_second, room;
    int is_same;
    ze_result_t result;
    stream->info.group = "threads that were stopped";
    stream->info.period_ns = 1000000000 / (stops < MOST_STOPS ? stops : (uint32_t)MOST_STOPS);
    zt__lock(&hotspots->mutex);
    is_same =
        !hotspots->has_started || (hotspots->count_count == 1 && strcmp(hotspots->count_names[0], name) == 0);
    if (is_same) {
        zt__copy_text(hotspots->count_names[0], sizeof hotspots->count_names[0], name, strlen(name));
        hotspots->count_count = 1;
        hotspots->active_count = UINT32_MAX;
    }
    zt__unlock(&hotspots->mutex);
    if (!is_same) {
        return zt__report(diagnostics, NO_ADDRESSES, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "instructions were sampled in another way at the first start");
    }
    if (hotspots->config.no_thread) {
        return zt__report(diagnostics, CANNOT_STOP, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "that needs the library's own thread. Leave config.no_thread 0.");
    }
    config.wait_timeout_ns = WAIT_NS;
    config.module_limit = hotspots->config.debug_limit;
    config.no_lines = 1;
    config.allocator = hotspots->allocator;
    result = zt_debug_open(hotspots->profiler->device, 0, &config, &hotspots->debugger);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report(diagnostics, CANNOT_STOP, result, zt_debug_get_last_error(NULL));
    }
    room = hotspots->debugger->thread_count;
    hotspots->stopped_room = room < MOST_THREADS ? room : (uint32_t)MOST_THREADS;
    hotspots->stopped = (zt_debug_thread *)zt__allocate(&hotspots->allocator, hotspots->stopped_room,
                                                        sizeof *hotspots->stopped);
    hotspots->addresses =
        (uint64_t *)zt__allocate(&hotspots->allocator, hotspots->stopped_room, sizeof *hotspots->addresses);
    if (!hotspots->stopped || !hotspots->addresses) {
        zt__end_stops(hotspots);
        return zt__report_no_memory(diagnostics, "zt_hotspots_start", "samples");
    }
    return result;
#else
    (void)stream;
    return zt__report(diagnostics, CANNOT_STOP, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "the library was compiled without ZETOOLS_DEBUG. Define it before zetools.h is "
                      "included, in the file of ZETOOLS_IMPLEMENTATION too.");
#endif
}

#endif
