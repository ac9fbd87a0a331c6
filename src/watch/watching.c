/* The thread of a watch; zt_watch, zt_watch_stop. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/system.h"
#include "base/threads.h"
#include "regions/collecting.h"
#include "regions/creation.h"
#include "regions/profiler.h"
#include "regions/recordings.h"
#include "watch/hangs.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* ---- the thread ------------------------------------------------------------------------------------------ */

/* Stores the lists that have probes on their way. Returns their number; 0 without memory. */
static uint32_t zt__find_busy_lists(zt__watch *watch) {
    zt_profiler *profiler = watch->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    for (;;) {
        const zt__list *list;
        uint32_t count = 0;
        zt__lock(&profiler->mutex);
        list = profiler->awaited ? profiler->lists : NULL;
        for (; list; list = list->next) {
            if (zt__is_busy(list)) {
                if (count < watch->list_capacity) {
                    watch->lists[count] = list->handle;
                }
                count++;
            }
        }
        zt__unlock(&profiler->mutex);
        if (count <= watch->list_capacity) {
            return count;
        }
        zt__free(allocator, (void *)watch->lists);
        watch->list_capacity = count * 2;
        watch->lists =
            (ze_command_list_handle_t *)zt__allocate(allocator, watch->list_capacity, sizeof *watch->lists);
        if (!watch->lists) {
            watch->list_capacity = 0;
            return 0;
        }
    }
}

/* The step of the thread: finds the first region of each list that the device has not finished, and reports the
   one that was submitted first of those that have run too long. Until it has ended, no other is reported, because
   whatever is behind it waits. On a lost device no call shows which regions run. */
static int zt__run_watch(void *user) {
    enum { LEAST_NS = 1000000, MOST_NS = 100000000 };
    zt__watch *watch = (zt__watch *)user;
    uint64_t period_ns = watch->config.hang_ns / 8, now;
    uint32_t i, count, running_count = 0;
    zt__running running, suspect;
    period_ns = period_ns < LEAST_NS ? (uint64_t)LEAST_NS : period_ns;
    zt__sleep_thread(&watch->thread, period_ns < MOST_NS ? period_ns : (uint64_t)MOST_NS);
    if (zt__load(&watch->thread.stop_requested) || zt__is_device_lost(&watch->profiler->diagnostics)) {
        return 1;
    }
    now = zt__now_ns();
    if (watch->is_hanging && !zt__still_runs(watch, &watch->hang)) {
        watch->is_hanging = 0;
        watch->not_before_ns = now;
    }
    memset(&suspect, 0, sizeof suspect);
    count = zt__find_busy_lists(watch);
    for (i = 0; i < count && !zt__load(&watch->thread.stop_requested); i++) {
        int is_overdue, is_suspect_overdue;
        if (!zt__find_running(watch->profiler, watch->lists[i], &running)) {
            continue;
        }
        if (running.since_ns < watch->not_before_ns) {
            running.since_ns = watch->not_before_ns; /* it has waited for what hung */
        }
        if (running_count < ZT__SHOWN_LISTS) {
            watch->running[running_count] = running;
        }
        is_overdue = zt__has_hung(watch, &running, now);
        is_suspect_overdue = running_count > 0 && zt__has_hung(watch, &suspect, now);
        if (running_count++ == 0 || is_overdue > is_suspect_overdue ||
            (is_overdue == is_suspect_overdue && running.submission_ns < suspect.submission_ns)) {
            suspect = running;
        }
    }
    if (zt__load(&watch->thread.stop_requested)) {
        return 0; /* at exit, nothing of the application is called any more */
    }
    if (running_count && !watch->is_hanging && zt__has_hung(watch, &suspect, now)) {
        watch->is_hanging = 1;
        watch->hang = suspect;
        zt__report_hang(watch, &suspect, running_count);
    }
    return 1;
}

/* Ends the watch. Returns 0 if its thread does not end. */
static int zt__end_watch(zt_profiler *profiler) {
    zt__watch *watch = zt__load(&profiler->watch);
    if (!zt__stop_thread(&watch->thread)) {
        zt__report(&profiler->diagnostics, WATCH_HANGS, ZE_RESULT_NOT_READY, "zt_watch");
        return 0;
    }
    zt__lock(&profiler->mutex);
    watch->info.is_watching = 0;
    zt__unlock(&profiler->mutex);
    return 1;
}

static void zt__free_watch(zt_profiler *profiler) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__free(allocator, profiler->watch->path);
    zt__free(allocator, (void *)profiler->watch->lists);
    zt__free(allocator, profiler->watch);
}

/* ---- public functions ------------------------------------------------------------------------------------ */

static void zt__fill_watch_config(zt_watch_config *config) {
    const uint64_t least_ns = 1000000, default_ns = UINT64_C(10000000000);
    if (!config->hang_ns) {
        config->hang_ns = default_ns;
    }
    if (config->hang_ns < least_ns) {
        config->hang_ns = least_ns;
    }
    if (!config->path) {
        config->path = "hang.%p.txt";
    }
}

ZT_API ze_result_t zt_watch(zt_profiler *profiler, const zt_watch_config *config) {
    const char *call = "zt_watch";
    zt_watch_config complete;
    const zt_allocator *allocator;
    zt__watch *watch;
    zt__copy_config(&complete, config, sizeof complete);
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!profiler->device) {
        return zt__report_null_handle(&profiler->diagnostics, call, "the device of the profiler");
    }
    if (zt__refuse_inside_callback(profiler, call) || zt__is_inside_log(&profiler->diagnostics, call)) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    zt__fill_watch_config(&complete);
    allocator = &profiler->config.allocator;
    watch = zt__load(&profiler->watch);
    if (!watch) {
        watch = (zt__watch *)zt__allocate(allocator, 1, sizeof *watch);
        if (!watch) {
            return zt__report_no_memory(&profiler->diagnostics, call, "the watch");
        }
        watch->profiler = profiler;
        profiler->end_watch = zt__end_watch;
        profiler->free_watch = zt__free_watch;
        zt__store(&profiler->watch, watch);
    }
    if (!zt__end_watch(profiler)) {
        return ZE_RESULT_NOT_READY;
    }
    zt__free(allocator, watch->path);
    watch->path = *complete.path ? zt__duplicate_text(allocator, complete.path) : NULL;
    if (*complete.path && !watch->path) {
        return zt__report_no_memory(&profiler->diagnostics, call, "the path of the report");
    }
    watch->config = complete;
    watch->config.path = NULL;
    watch->is_hanging = 0;
    watch->not_before_ns = zt__now_ns();
    if (!zt__start_thread(&watch->thread, zt__run_watch, watch)) {
        return zt__report(&profiler->diagnostics, NO_WATCH_THREAD, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    zt__lock(&profiler->mutex);
    watch->info.is_watching = 1;
    zt__unlock(&profiler->mutex);
    return ZE_RESULT_SUCCESS;
}

ZT_API ze_result_t zt_watch_stop(zt_profiler *profiler) {
    if (!profiler || !zt__load(&profiler->watch) || !zt__is_registered(profiler)) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_log(&profiler->diagnostics, "zt_watch_stop")) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    return zt__end_watch(profiler) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ZT__PRIVATE zt_watch_info zt__get_watch_info(const zt_profiler *profiler) {
    zt_watch_info info;
    const zt__watch *watch = profiler ? zt__load(&profiler->watch) : NULL;
    memset(&info, 0, sizeof info);
    if (watch) {
        zt__lock(&zt__mutable(profiler)->mutex);
        info = watch->info;
        zt__unlock(&zt__mutable(profiler)->mutex);
    }
    return info;
}

#endif
