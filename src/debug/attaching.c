/* zt_debug_open, zt_debug_close. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/threads.h"
#include "debug/debugger.h"
#include "debug/events.h"
#include "debug/registers.h"
#include "debug/threads.h"

#ifdef ZETOOLS_DEBUG

static void zt__destroy_debugger(zt_debugger *debugger) {
    const zt_allocator allocator = debugger->config.allocator;
    while (debugger->modules) {
        zt__debug_module *module = debugger->modules;
        debugger->modules = module->next;
        zt__free(&allocator, module->bytes);
        zt__free(&allocator, module);
    }
    zt__map_free_values(&debugger->texts, &allocator);
    zt__free(&allocator, debugger->events);
    zt__free(&allocator, debugger->held);
    zt__free(&allocator, debugger->sets);
    zt__destroy_mutex(&debugger->delivering.mutex);
    zt__destroy_mutex(&debugger->session.mutex);
    zt__destroy_mutex(&debugger->mutex);
    zt__free(&allocator, debugger);
}

static void zt__fill_debug_config(zt_debug_config *config) {
    if (!config->wait_timeout_ns) {
        config->wait_timeout_ns = 1000000000;
    }
    if (!config->module_limit) {
        config->module_limit = (size_t)64 << 20;
    }
}

/* Returns whether there is a stop that waits for its answer, or for a caller to take it. */
static int zt__has_interrupt(const zt_debugger *debugger) {
    uint32_t i;
    for (i = 0; i < ZT__DEBUG_INTERRUPTS; i++) {
        if (debugger->interrupts[i].is_used) {
            return 1;
        }
    }
    return 0;
}

/* Acknowledges all events and resumes all threads, also those that are about to stop, for a limited time. No
   other thread uses the debugger. */
static void zt__release_target(zt_debugger *debugger) {
    uint64_t deadline = zt__deadline(debugger->config.wait_timeout_ns);
    ze_result_t result;
    do {
        zt__acknowledge_all(debugger);
        result =
            zt__read_event(debugger, "zt_debug_close", zt__has_interrupt(debugger) ? ZT__DEBUG_POLL_MS : 0);
    } while (zt__now_ns() < deadline &&
             (result == ZE_RESULT_SUCCESS || (result == ZE_RESULT_NOT_READY && zt__has_interrupt(debugger))));
    zt__acknowledge_all(debugger);
    if (!debugger->is_over && !zt__is_device_lost(&debugger->diagnostics)) {
        zt__resume(debugger, zt__all_threads);
    }
}

/* Finds the file with which Linux disables program debug for all processes. Returns 0 if none does. */
static int zt__find_debug_switch(char *path, size_t size) {
    static const char *const names[] = {"prelim_enable_eu_debug", "device/enable_eudebug",
                                        "device/prelim_enable_eudebug"}; /* i915, xe, Intel's own xe */
    enum { CARDS = 64 };
    uint32_t card, i;
    for (card = 0; card < CARDS; card++) {
        for (i = 0; i < ZT__COUNT_OF(names); i++) {
            FILE *file;
            int value, is_off;
            snprintf(path, size, "/sys/class/drm/card%u/%s", (unsigned)card, names[i]);
            file = zt__open_file(path, ZT__TO_READ);
            is_off = file && fscanf(file, "%d", &value) == 1 && value == 0;
            if (file) {
                fclose(file);
            }
            if (is_off) {
                return 1;
            }
        }
    }
    return 0;
}

/* Attaches a debugger, if the device can be debugged, and loads what the device has: threads and registers.
   Returns the result of zt_debug_open. */
static ze_result_t zt__attach_debugger(zt_debugger *debugger) {
    zt__diagnostics *diagnostics = &debugger->diagnostics;
    zet_device_handle_t device = (zet_device_handle_t)debugger->device;
    const char *call = "zetDebugAttach", *name, *enabled = getenv("ZET_ENABLE_PROGRAM_DEBUGGING");
    zet_device_debug_properties_t debug_properties;
    ze_device_properties_t properties;
    zt_debug_thread *size = &debugger->size;
    uint64_t threads;
    zet_debug_config_t config;
    char path[96];
    ze_result_t result;
    memset(&debug_properties, 0, sizeof debug_properties);
    debug_properties.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES;
    result = zetDeviceGetDebugProperties(device, &debug_properties);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check_debug(debugger, result, "zetDeviceGetDebugProperties");
    }
    if (!(debug_properties.flags & ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH)) {
        return zt__find_debug_switch(path, sizeof path)
                   ? zt__report(diagnostics, DEBUG_SWITCHED_OFF, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                                "zetDeviceGetDebugProperties", "no ATTACH", path)
                   : zt__report(diagnostics, DEBUG_UNSUPPORTED, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }

    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    ZT__INTERNAL(result = zeDeviceGetProperties(debugger->device, &properties));
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check_debug(debugger, result, "zeDeviceGetProperties");
    }
    size->slice = properties.numSlices;
    size->subslice = properties.numSubslicesPerSlice;
    size->eu = properties.numEUsPerSubslice;
    size->thread = properties.numThreadsPerEU;
    /* What a driver reports may be anything: too large products are cut off before they overflow. */
    threads = size->slice <= ZT__DEBUG_THREADS ? size->slice : UINT32_MAX;
    threads *= size->subslice <= ZT__DEBUG_THREADS ? size->subslice : UINT32_MAX;
    threads = threads <= ZT__DEBUG_THREADS ? threads * size->eu : UINT32_MAX;
    threads = threads <= ZT__DEBUG_THREADS ? threads * size->thread : UINT32_MAX;
    if (threads == 0 || threads > ZT__DEBUG_THREADS) {
        return zt__report(diagnostics, BAD_THREADS, ZE_RESULT_ERROR_INVALID_SIZE, (unsigned)size->slice,
                          (unsigned)size->subslice, (unsigned)size->eu, (unsigned)size->thread);
    }
    debugger->thread_count = (uint32_t)threads;
    debugger->held = (uint8_t *)zt__allocate(&debugger->config.allocator, debugger->thread_count, 1);
    if (!debugger->held) {
        return zt__report_no_memory(diagnostics, "zt_debug_open", "threads");
    }

    config.pid = debugger->pid;
    result = zetDebugAttach(device, &config, &debugger->handle);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__load_register_sets(debugger);
        if (result != ZE_RESULT_SUCCESS) {
            zt__release_target(debugger);
            zetDebugDetach(debugger->handle);
        }
        return result;
    }

    /* Report why it cannot attach. For a process that does not exist, no result is specified. */
    name = zt_result_name(result);
    if (zt__is_no_process(config.pid)) {
        return zt__report(diagnostics, NO_SUCH_PROCESS, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name,
                          (unsigned)config.pid);
    }
    switch ((uint32_t)result) {
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
        if (zt__find_debug_switch(path, sizeof path)) {
            return zt__report(diagnostics, DEBUG_SWITCHED_OFF, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, call,
                              name, path);
        }
        return zt__report(diagnostics, DEBUG_NOT_ENABLED, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, call, name,
                          (unsigned)config.pid,
                          enabled && strcmp(enabled, "1") == 0 ? "is set" : "is not set");
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
        return zt__report(diagnostics, DEBUG_FORBIDDEN, result, call, name, (unsigned)config.pid);
    case ZE_RESULT_ERROR_NOT_AVAILABLE:
        return zt__report(diagnostics, DEBUGGED_ALREADY, result, call, name, (unsigned)config.pid);
    default:
        return zt__check_debug(debugger, result, call);
    }
}

ZT_API ze_result_t zt_debug_open(ze_device_handle_t device, uint32_t pid, const zt_debug_config *config,
                                 zt_debugger **debugger) {
    const char *call = "zt_debug_open";
    zt_debug_config complete;
    const zt_allocator *allocator = &complete.allocator;
    zt_debugger *opened;
    zet_debug_event_t *events;
    ze_result_t result;
    zt__copy_config(&complete, config, sizeof complete);
    if (!debugger) {
        return zt__report_null(NULL, call, "debugger");
    }
    *debugger = NULL;
    if (!device) {
        return zt__report_null_handle(NULL, call, "device");
    }
    if (!allocator->allocate != !allocator->release) {
        return zt__report(NULL, BAD_ALLOCATOR, ZE_RESULT_ERROR_INVALID_ARGUMENT, call);
    }
    zt__fill_debug_config(&complete);
    if (!allocator->allocate) {
        complete.allocator = zt__default_allocator;
    }
    opened = (zt_debugger *)zt__allocate(allocator, 1, sizeof *opened);
    events = (zet_debug_event_t *)zt__allocate(allocator, ZT__DEBUG_EVENTS, sizeof *events);
    if (!opened || !events) {
        zt__free(allocator, opened);
        zt__free(allocator, events);
        return zt__report_no_memory(NULL, call, "the debugger");
    }
    zt__create_mutex(&opened->mutex);
    zt__create_mutex(&opened->delivering.mutex);
    zt__create_mutex(&opened->session.mutex);
    opened->process = zt__get_process();
    opened->config = complete;
    opened->device = device;
    opened->pid = pid ? pid : (uint32_t)zt__get_process_id();
    opened->events = events;
    opened->diagnostics.mutex = &opened->mutex;
    opened->diagnostics.log = complete.log ? complete.log : zt__default_log();
    opened->diagnostics.log_user = complete.log_user;
    result = zt__check_process(&opened->diagnostics, call);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__attach_debugger(opened);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zt__keep_error(&opened->diagnostics, result);
        zt__destroy_debugger(opened);
        return result;
    }
    *debugger = opened;
    return result;
}

ZT_API ze_result_t zt_debug_close(zt_debugger *debugger) {
    enum { LONGEST_S = 10 };
    const char *call = "zt_debug_close";
    zt__wait wait = zt__wait_until(zt__deadline(LONGEST_S * UINT64_C(1000000000)));
    ze_result_t result = ZE_RESULT_SUCCESS;
    int tries;
    uint32_t i;
    /* In a forked child, threads that do not exist there may hold the locks. */
    if (!debugger || debugger->process != zt__find_process()) {
        return result;
    }
    if (zt__is_inside_log(&debugger->diagnostics, call)) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    if (zt__is_owner(&debugger->delivering) || zt__is_owner(&debugger->session)) {
        return zt__report(&debugger->diagnostics, DEBUG_INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          call);
    }
    zt__store(&debugger->is_closing, 1); /* ends calls that wait */
    while (zt__load(&debugger->users)) {
        if (!zt__wait_again(&wait)) {
            zt__store(&debugger->is_closing, 0);
            return zt__report(&debugger->diagnostics, DEBUG_BUSY, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
        }
    }
    /* No other thread is in a call. The lock keeps callbacks of this thread from making one. */
    zt__try_lock(&debugger->session);
    for (i = 0; i < ZT__DEBUG_INTERRUPTS; i++) {
        debugger->interrupts[i].waiting = 0;
    }
    zt__release_target(debugger);
    for (tries = 0; tries < ZT__DEBUG_TRIES; tries++) {
        result = zetDebugDetach(debugger->handle);
        if (result == ZE_RESULT_SUCCESS || zt__means_device_loss(result)) {
            break;
        }
    }
    zt__check_debug(debugger, result, "zetDebugDetach");
    zt__unlock_timed(&debugger->session);
    if (result != ZE_RESULT_SUCCESS) {
        zt__keep_error(&debugger->diagnostics, result);
    }
    zt__destroy_debugger(debugger);
    return result;
}

#endif
