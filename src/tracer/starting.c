/* zt_trace_start, zt_trace_stop; zt_replace, which may create the tracer. */

#include "tracer/starting.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/threads.h"
#include "regions/collecting.h"
#include "regions/configuration.h"
#include "regions/profiler.h"
#include "regions/submitting.h"
#include "results/timeline.h"
#include "tracer/call_times.h"
#include "tracer/calls.h"
#include "tracer/dispatcher.h"
#include "tracer/events.h"
#include "tracer/extensions.h"
#include "tracer/hotspot_control.h"
#include "tracer/lists.h"
#include "tracer/memory_use.h"
#include "tracer/module_files.h"
#include "tracer/registration.h"
#include "tracer/replacements.h"
#include "tracer/sampling.h"
#include "tracer/seen_lists.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* ---- a tracer ------------------------------------------------------------------------------------------- */

ZT__PRIVATE zt__tracer *zt__create_tracer(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                          uint64_t wait_timeout_ns) {
    zt__tracer *tracer = (zt__tracer *)zt__allocate(allocator, 1, sizeof *tracer);
    if (!tracer) {
        return NULL;
    }
    tracer->allocator = *allocator;
    tracer->diagnostics = diagnostics;
    tracer->wait_timeout_ns = wait_timeout_ns;
    tracer->check_layer = zt__check_layer_of;
    zt__create_mutex(&tracer->mutex);
    zt__create_mutex(&tracer->event_mutex);
    zt__create_mutex(&tracer->memory_mutex);
    zt__create_mutex(&tracer->opening.mutex);
    tracer->loaded.allocator = &tracer->allocator;
    tracer->loaded.mutex = &tracer->mutex;
    zt__find_loader_symbol("zeCommandListGetContextHandle", (void *)&tracer->get_context);
    zt__find_loader_symbol("zeCommandListGetDeviceHandle", (void *)&tracer->get_device);
    zt__find_loader_symbol("zeCommandListGetOrdinal", (void *)&tracer->get_ordinal);
    zt__find_loader_symbol("zeCommandListGetFlags", (void *)&tracer->get_list_flags);
    zt__find_loader_symbol("zeCommandListImmediateGetFlags", (void *)&tracer->get_queue_flags);
    zt__find_loader_symbol("zeEventGetEventPool", (void *)&tracer->get_pool);
    zt__find_loader_symbol("zeEventPoolGetFlags", (void *)&tracer->get_pool_flags);
    zt__find_loader_symbol("zeCommandListIsGraphCaptureEnabledExt", (void *)&tracer->query_capture);
    zt__create_mutex(&tracer->modules.mutex);
    tracer->modules.allocator = *allocator;
    tracer->modules.diagnostics = diagnostics;
    tracer->modules.wait_timeout_ns = wait_timeout_ns;
    tracer->modules.loaded = &tracer->loaded;
    return tracer;
}

ZT__PRIVATE void zt__destroy_tracer(zt__tracer *tracer) {
    zt_allocator allocator = tracer->allocator;
    uint32_t i;
    zt__forget_tracer(tracer);
    zt__forget_everything(tracer);
    while (tracer->devices) {
        zt__traced_device *device = tracer->devices;
        tracer->devices = device->next;
        zt__free(&allocator, device);
    }
    for (i = 0; i < tracer->timed_call_count; i++) {
        zt__free_timed_call(&allocator, tracer->by_appearance[i]);
    }
    while (tracer->modules.replacements) {
        zt__replacement *replacement = tracer->modules.replacements;
        tracer->modules.replacements = replacement->next;
        zt__free(&allocator, replacement);
    }
    zt__free(&allocator, tracer->modules.directory);
    zt__free(&allocator, tracer->names);
    zt__free(&allocator, tracer->spans);
    zt__destroy_mutex(&tracer->mutex);
    zt__destroy_mutex(&tracer->event_mutex);
    zt__destroy_mutex(&tracer->memory_mutex);
    zt__destroy_mutex(&tracer->opening.mutex);
    zt__destroy_mutex(&tracer->modules.mutex);
    zt__free(&allocator, tracer);
}

/* ---- its configuration ---------------------------------------------------------------------------------- */

/* A zt__name_fn, for zt__find_nearest. */
static const char *zt__call_name_at(const void *names, uint32_t index) {
    (void)names;
    return zt__call_name(index);
}

static ze_result_t zt__report_no_such_call(const zt__tracer *tracer, const char *name, size_t length) {
    zt__nearest nearest;
    char wanted[65];
    zt__copy_text(wanted, sizeof wanted, name, length);
    nearest = zt__find_nearest(wanted, NULL, ZT__CALL_COUNT, zt__call_name_at);
    return zt__report(tracer->diagnostics, NO_SUCH_CALL, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      zt__starting_call(tracer), wanted, nearest.text);
}

/* Copies a configuration, and forgets kernels and lists: what was not observed since the last stop may
   have changed them. `timeline` is how many samples the profiler keeps. */
static ze_result_t zt__configure_tracer(zt__tracer *tracer, const zt_trace_config *config,
                                        uint32_t timeline) {
    const char *rest = config->calls, *pattern;
    size_t length;
    zt__traced_device *device;
    uint32_t i, call, present;
    int measures_times_alone;
    zt__forget_everything(tracer);
    zt__free(&tracer->allocator, tracer->names);
    tracer->names = NULL;
    if (config->names) {
        tracer->names = zt__duplicate_text(&tracer->allocator, config->names);
        if (!tracer->names) {
            return zt__report_no_memory(tracer->diagnostics, zt__starting_call(tracer),
                                        "the names of kernels");
        }
    }
    tracer->is_stopping = 0;
    tracer->every = config->every ? config->every : 1;
    tracer->limit = config->limit;
    tracer->timeline = timeline;
    zt__configure_modules(&tracer->modules, config->modules);
    tracer->modules.profile_flags = config->profile_flags;
    while (rest && zt__next_name(&rest, &pattern, &length)) { /* each pattern must match a call */
        size_t skipped = *pattern == '!';
        for (call = 0; call < ZT__CALL_COUNT; call++) {
            if (zt__matches(pattern + skipped, length - skipped, zt__call_name(call))) {
                break;
            }
        }
        if (call == ZT__CALL_COUNT) {
            return zt__report_no_such_call(tracer, pattern + skipped, length - skipped);
        }
    }

    tracer->hook_count = 0;
    if (config->hook_count > ZT__MAX_HOOKS || (config->hook_count && !config->hooks)) {
        return zt__report(tracer->diagnostics, BAD_HOOKS, ZE_RESULT_ERROR_INVALID_SIZE,
                          zt__starting_call(tracer), (unsigned)ZT__MAX_HOOKS);
    }
    for (i = 0; i < config->hook_count; i++) {
        const zt_hook *hook = &config->hooks[i];
        const char *name = hook->call ? hook->call : "";
        for (call = 0; call < ZT__CALL_COUNT && strcmp(name, zt__call_name(call)) != 0;) {
            call++;
        }
        if (call == ZT__CALL_COUNT) {
            return zt__report_no_such_call(tracer, name, strlen(name));
        }
        tracer->hooks[i].call = (zt__call)call;
        tracer->hooks[i].prologue = hook->prologue;
        tracer->hooks[i].epilogue = hook->epilogue;
        tracer->hooks[i].user = hook->user;
    }
    tracer->hook_count = config->hook_count;

    tracer->watches_memory = config->memory != 0;
    for (device = zt__next_measured(tracer, NULL); device && config->memory;
         device = zt__next_measured(tracer, device)) {
        if (!zt__prepare_memory_use(device->profiler)) {
            return zt__report_no_memory(tracer->diagnostics, zt__starting_call(tracer), "the use of memory");
        }
    }

    /* The profilers of zt_auto are opened later, and may find that there are no metrics. */
    measures_times_alone = tracer->automatic || tracer->devices->profiler->passes[0].group_count == 0;
    tracer->borrows_events = (!config->no_launches || config->copies) &&
                             (config->every > 1 || config->limit || measures_times_alone);
    present = ZT__ALWAYS;
    present |= config->no_launches ? 0 : ZT__FOR_LAUNCHES;
    present |= config->no_launches && !config->copies ? 0 : ZT__FOR_COMMANDS;
    present |= tracer->borrows_events ? ZT__FOR_EVENTS : 0;
    present |= tracer->automatic ? ZT__FOR_AUTO : 0;
    present |= config->memory ? ZT__FOR_MEMORY : 0;
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        zt__call_kind kind = zt__kind_of_call((zt__call)call);
        tracer->timed[call] =
            zt__has_names(config->calls) && zt__is_selected(config->calls, zt__call_name(call));
        tracer->measured[call] =
            ((kind == ZT__KIND_LAUNCH || kind == ZT__KIND_GRAPH) && !config->no_launches) ||
            ((kind == ZT__KIND_COPY || kind == ZT__KIND_SYNC) && config->copies);
        tracer->observed[call] =
            tracer->timed[call] || tracer->measured[call] || (zt__steps_of_kind[kind].needed & present) != 0;
    }
    for (i = 0; i < tracer->hook_count; i++) {
        tracer->observed[tracer->hooks[i].call] = 1;
    }
    for (call = 0; call < ZT__CALL_COUNT; call++) {
        tracer->only_waits[call] = !tracer->observed[call] && zt__is_wait((zt__call)call);
        tracer->observed[call] |= tracer->only_waits[call];
    }
    if (!tracer->spans && timeline && zt__has_names(config->calls)) {
        /* As many calls are kept as samples; without memory, none. */
        zt__host_span *spans =
            (zt__host_span *)zt__allocate(&tracer->allocator, timeline, sizeof *tracer->spans);
        zt__lock(&tracer->mutex);
        tracer->spans = spans;
        tracer->span_capacity = timeline;
        zt__unlock(&tracer->mutex);
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- starting and stopping ------------------------------------------------------------------------------ */

/* Makes a tracer live, of which the process has none. */
static ze_result_t zt__start_only_tracer(zt__tracer *tracer, const zt_trace_config *given,
                                         uint32_t timeline) {
    zt_trace_config config;
    const char *kernels = zt__get_variable("ZT_KERNELS"), *copies = zt__get_variable("ZT_COPIES"),
               *calls = zt__get_variable("ZT_CALLS"), *memory = zt__get_variable("ZT_MEMORY");
    const char *modules = zt__get_variable("ZT_MODULES"), *flags = zt__get_variable("ZT_PROFILE_FLAGS");
    ze_result_t(ZE_APICALL * enable_layer)(void);
    zt__traced_device *device;
    ze_result_t result;
    zt__copy_config(&config, given, sizeof config);
    if (zt__has_calls_in_progress(tracer, 0)) {
        return zt__report(tracer->diagnostics, CALLS_IN_PROGRESS, ZE_RESULT_NOT_READY,
                          zt__starting_call(tracer));
    }
    if (kernels) {
        config.names = kernels;
    }
    if (copies) {
        config.copies = !zt__is_off(copies);
    }
    if (memory) {
        config.memory = !zt__is_off(memory);
    }
    if (calls) {
        config.calls = calls;
    }
    if (modules) {
        config.modules = modules;
    }
    if (flags) {
        char *end;
        unsigned long long value = strtoull(flags, &end, 16);
        config.profile_flags = (uint32_t)value;
        if (end == flags || *end || value > UINT32_MAX) {
            return zt__report(tracer->diagnostics, BAD_PROFILE_FLAGS, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              zt__starting_call(tracer), flags);
        }
    }
    result = zt__configure_tracer(tracer, &config, timeline);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__lock(&zt__dispatch_setup);
    if (!zt__dispatch.handles_fork) {
        zt__dispatch.handles_fork = zt__call_after_fork(zt__forget_tracers);
    }
    zt__find_loader_symbol("zelEnableTracingLayer", (void *)&enable_layer);
    if (enable_layer && enable_layer() == ZE_RESULT_SUCCESS) {
        zt__find_loader_symbol("zelDisableTracingLayer", (void *)&zt__dispatch.disable_layer);
    }
    zt__dispatch.wrap_extension = zt__wrap_extension;
    result = zt__register_calls(tracer);
    if (result == ZE_RESULT_SUCCESS) {
        zt__set_live(tracer, 1);
    } else {
        zt__disable_layer();
    }
    zt__unlock(&zt__dispatch_setup);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__report(tracer->diagnostics, TRACING_OFF, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          zt__starting_call(tracer), zt_result_name(result));
    }
    for (device = zt__next_measured(tracer, NULL); device && tracer->watches_memory;
         device = zt__next_measured(tracer, device)) {
        zt__watch_memory(device->profiler);
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__start_tracer(zt__tracer *tracer, const zt_trace_config *given,
                                         uint32_t timeline) {
    zt__process *process = zt__get_process();
    ze_result_t result;
    if (!process) {
        return zt__report_no_memory(tracer->diagnostics, zt__starting_call(tracer), "the tracer");
    }
    if (!zt__change_if(&process->tracers, 0, 1)) {
        return zt__report(tracer->diagnostics, TRACING_ALREADY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          zt__starting_call(tracer));
    }
    result = zt__start_only_tracer(tracer, given, timeline);
    if (result != ZE_RESULT_SUCCESS) {
        zt__store(&process->tracers, 0u);
    }
    zt__store(&tracer->start_result, (int)result);
    return result;
}

ZT__PRIVATE ze_result_t zt__stop_measuring(zt__tracer *tracer, const char *caller) {
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    ze_result_t result = ZE_RESULT_SUCCESS;
    zt__check_layer(tracer);
    for (; device; device = zt__next_measured(tracer, device)) {
        ze_result_t stopped = zt__stop_sampling(device->profiler, caller);
        result = stopped == ZE_RESULT_SUCCESS ? result : stopped;
    }

    if (zt__load(&tracer->is_live)) {
        zt__wait launches = zt__wait_until(zt__deadline(tracer->wait_timeout_ns));
        zt__lock(&tracer->mutex);
        tracer->is_stopping = 1;
        zt__unlock(&tracer->mutex);
        while (zt__has_calls_in_progress(tracer, 1) && zt__wait_again(&launches)) {
        }
        for (device = zt__next_measured(tracer, NULL); device; device = zt__next_measured(tracer, device)) {
            zt_profiler *profiler = device->profiler;
            while (!zt__is_owner(&profiler->collector) && zt__has_unread_launches(profiler, NULL) &&
                   zt__wait_again(&launches)) {
                zt__try_collect(profiler, NULL);
            }
        }
    }
    return result;
}

ZT__PRIVATE ze_result_t zt__stop_tracer(zt__tracer *tracer, const char *caller) {
    zt__wait wait;
    zt__traced_device *device;
    ze_result_t result = zt__stop_measuring(tracer, caller);
    if (zt__load(&tracer->is_live)) {
        if (!tracer->automatic ||
            !zt__load(&tracer->was_layer_off)) { /* events may be destroyed with their contexts */
            zt__return_events(tracer, NULL, NULL, NULL);
        }
        for (device = zt__next_measured(tracer, NULL); device; device = zt__next_measured(tracer, device)) {
            zt__note_unseen_resets(device->profiler);
        }
    }

    zt__lock(&zt__dispatch_setup);
    if (zt__load(&tracer->is_live)) {
        zt__set_live(tracer, 0);
        zt__disable_layer();
        zt__store(&zt__get_process()->tracers, 0u);
    }
    zt__unlock(&zt__dispatch_setup);
    for (device = zt__next_measured(tracer, NULL); device; device = zt__next_measured(tracer, device)) {
        zt__stop_watching_memory(device->profiler);
    }
    wait = zt__wait_until(zt__deadline(tracer->wait_timeout_ns));
    while (zt__has_calls_in_progress(tracer, 0)) {
        if (!zt__wait_again(&wait)) {
            return zt__report(tracer->diagnostics, CALLS_IN_PROGRESS, ZE_RESULT_NOT_READY, caller);
        }
    }
    return result;
}

/* Called by zt_close. Returns 0 if the profiler cannot be closed now. The tracer stays, for reports. */
static int zt__end_tracing(zt_profiler *profiler) {
    zt__tracer *tracer = profiler->tracer;
    if (zt__is_inside_hook() && zt__load(&tracer->is_live)) {
        zt__report(&profiler->diagnostics, INSIDE_HOOK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "zt_close");
        return 0;
    }
    zt__stop_tracer(tracer, "zt_close");
    return !zt__is_sampling(profiler) && zt__abandon_calls(tracer);
}

static void zt__free_tracer(zt_profiler *profiler) {
    zt__destroy_tracer(profiler->tracer);
}

/* ---- public --------------------------------------------------------------------------------------------- */

/* Returns the tracer of a profiler, which is created if there is none. Returns NULL without memory. */
static zt__tracer *zt__find_or_add_tracer(zt_profiler *profiler, const char *call) {
    zt__tracer *found = zt__load(&profiler->tracer), *tracer;
    if (found) {
        return found;
    }
    tracer = zt__create_tracer(&profiler->config.allocator, &profiler->diagnostics,
                               profiler->config.wait_timeout_ns);
    if (tracer && !zt__add_device(tracer, profiler->context, profiler->device, profiler)) {
        zt__destroy_tracer(tracer);
        tracer = NULL;
    }
    if (!tracer) {
        zt__report_no_memory(&profiler->diagnostics, call, "the tracer");
        return NULL;
    }
    tracer->modules.context = profiler->context;
    tracer->modules.device = profiler->device;
    zt__lock(&profiler->mutex);
    found = profiler->tracer;
    if (!found) {
        zt__store(&profiler->check_tracing, tracer->check_layer);
        profiler->stop_tracing = zt__end_tracing;
        profiler->free_tracer = zt__free_tracer;
        profiler->return_events = zt__return_events_of_list;
        zt__store(&profiler->tracer, tracer);
        zt__store(&profiler->loaded, &tracer->loaded);
    }
    zt__unlock(&profiler->mutex);
    if (found) { /* another thread was faster */
        zt__destroy_tracer(tracer);
    }
    return found ? found : tracer;
}

ZT_API ze_result_t zt_trace_start(zt_profiler *profiler, const zt_trace_config *config) {
    zt__tracer *tracer;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_hook()) {
        return zt__report(&profiler->diagnostics, INSIDE_HOOK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_trace_start");
    }
    if (!profiler->device) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_trace_start", "the profiler's device");
    }
    tracer = zt__find_or_add_tracer(profiler, "zt_trace_start");
    if (!tracer) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (config && (config->every > 1 || config->limit)) {
        zt__prepare_times_alone(profiler);
    }
    return zt__start_tracer(tracer, config, profiler->config.timeline);
}

ZT_API ze_result_t zt_trace_stop(zt_profiler *profiler) {
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    if (!tracer) {
        return ZE_RESULT_SUCCESS;
    }
    if (zt__is_inside_hook()) {
        return zt__report(&profiler->diagnostics, INSIDE_HOOK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zt_trace_stop");
    }
    return zt__stop_tracer(tracer, "zt_trace_stop");
}

ZT_API ze_result_t zt_replace(zt_profiler *profiler, const char *kernels, ze_module_handle_t module,
                              const char *name) {
    const char *call = "zt_replace", **names;
    zt__tracer *tracer = profiler ? zt__load(&profiler->tracer) : NULL;
    zt__replacement *added = NULL;
    size_t size, name_size = name ? strlen(name) + 1 : 0;
    uint32_t i, room, count = 0;
    void *function;
    ze_result_t result;
    if (!profiler || (!tracer && !module)) {
        return ZE_RESULT_SUCCESS;
    }
    if (!profiler->device) {
        return zt__report_null_handle(&profiler->diagnostics, call, "the profiler's device");
    }
    tracer = zt__find_or_add_tracer(profiler, call);
    if (!tracer) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (module && name) { /* the module must have a kernel or function of this name */
        ZT__INTERNAL(result = zeModuleGetKernelNames(module, &count, NULL));
        room = count;
        names = (const char **)zt__allocate(&profiler->config.allocator, (size_t)count + 1, sizeof *names);
        if (!names) {
            return zt__report_no_memory(&profiler->diagnostics, call, "the names of kernels");
        }
        if (result == ZE_RESULT_SUCCESS) {
            ZT__INTERNAL(result = zeModuleGetKernelNames(module, &count, names));
            count = count < room ? count : room;
        }
        if (zt__check(&profiler->diagnostics, result, "zeModuleGetKernelNames", "Nothing is replaced.") ==
            ZE_RESULT_SUCCESS) {
            for (i = 0; i < count && strcmp(names[i], name) != 0;) {
                i++;
            }
            if (i == count) {
                ZT__INTERNAL(result = zeModuleGetFunctionPointer(module, name, &function));
            }
            if (result != ZE_RESULT_SUCCESS) {
                zt__nearest nearest = zt__find_nearest(name, names, count, zt__name_in_list);
                result = zt__report(&profiler->diagnostics, NO_SUCH_KERNEL,
                                    ZE_RESULT_ERROR_INVALID_KERNEL_NAME, name, nearest.text);
            }
        }
        zt__free(&profiler->config.allocator, (void *)names);
        if (result != ZE_RESULT_SUCCESS) {
            return result;
        }
    }
    if (module) {
        kernels = kernels ? kernels : "*";
        size = strlen(kernels) + 1;
        added =
            (zt__replacement *)zt__allocate(&profiler->config.allocator, 1, sizeof *added + size + name_size);
        if (!added) {
            return zt__report_no_memory(&profiler->diagnostics, call, "a replacement");
        }
        added->module = module;
        added->kernels = (char *)memcpy(added + 1, kernels, size);
        added->name = name ? (char *)memcpy(added->kernels + size, name, name_size) : NULL;
    }
    return zt__change_replacements(&tracer->modules, kernels, NULL, added, call);
}

#endif
