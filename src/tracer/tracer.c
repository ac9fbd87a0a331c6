/* What a tracer knows: devices, lists, pools, events, names, times of calls. */

#include "tracer/tracer.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "modules/loaded.h"
#include "modules/ze_info.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE const char *zt__starting_call(const zt__tracer *tracer) {
    return tracer->automatic ? "zt_auto" : "zt_trace_start";
}

ZT__PRIVATE zt__known_list *zt__find_known_list(const zt__tracer *tracer, ze_command_list_handle_t list) {
    const void *handle = list;
    return (zt__known_list *)zt__map_find(&tracer->lists, &handle, sizeof handle);
}

ZT__PRIVATE zt__loaded_module *zt__find_loaded_module(const zt__tracer *tracer, ze_module_handle_t module) {
    const void *handle = module;
    return (zt__loaded_module *)zt__map_find(&tracer->loaded.modules, &handle, sizeof handle);
}

ZT__PRIVATE zt__loaded_kernel *zt__find_loaded_kernel(const zt__tracer *tracer, ze_kernel_handle_t kernel) {
    const void *handle = kernel;
    return (zt__loaded_kernel *)zt__map_find(&tracer->loaded.kernels, &handle, sizeof handle);
}

ZT__PRIVATE zt__loaded_kernel *zt__remember_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel) {
    return (zt__loaded_kernel *)zt__find_or_add_record(&tracer->loaded, &tracer->loaded.kernels, kernel,
                                                       sizeof(zt__loaded_kernel));
}

ZT__PRIVATE int zt__signals_once(const zt__tracer *tracer, const zt__known_list *list) {
    return list && list->kind == ZT__LIST_IMMEDIATE && tracer->captures == 0;
}

ZT__PRIVATE void zt__set_captured(zt__tracer *tracer, zt__known_list *list, int is_captured) {
    if (is_captured) {
        memset(&list->content, 0, sizeof list->content);
        memcpy(&tracer->last_captured, &list->handle, sizeof list->handle);
    }
    if (is_captured && !list->is_captured) {
        tracer->captures++;
    } else if (!is_captured && list->is_captured) {
        tracer->captures--;
    }
    list->is_captured = is_captured;
}

ZT__PRIVATE void zt__forget_handle(zt__tracer *tracer, zt__map *map, const void *handle) {
    void *record;
    zt__lock(&tracer->mutex);
    record = zt__map_find(map, &handle, sizeof handle);
    zt__map_remove(map, &handle, sizeof handle);
    zt__unlock(&tracer->mutex);
    if (record && map == &tracer->loaded.modules) {
        zt__free_described_module(&tracer->allocator, ((zt__loaded_module *)record)->described);
    }
    zt__free(&tracer->allocator, record);
}

/* Frees a map and its records, which other threads may look up meanwhile. */
static void zt__forget_records(zt__tracer *tracer, zt__map *map, zt__mutex *mutex) {
    zt__map records;
    uint32_t i;
    zt__lock(mutex);
    records = *map;
    memset(map, 0, sizeof *map);
    zt__unlock(mutex);
    for (i = 0; map == &tracer->loaded.modules && i < records.capacity; i++) {
        const zt__loaded_module *module = (const zt__loaded_module *)records.entries[i].value;
        zt__free_described_module(&tracer->allocator, module ? module->described : NULL);
    }
    zt__map_free_values(&records, &tracer->allocator);
}

ZT__PRIVATE void zt__forget_everything(zt__tracer *tracer) {
    zt__forget_records(tracer, &tracer->loaded.modules, &tracer->mutex);
    zt__forget_records(tracer, &tracer->loaded.kernels, &tracer->mutex);
    zt__forget_records(tracer, &tracer->lists, &tracer->mutex);
    zt__forget_records(tracer, &tracer->graphs, &tracer->mutex);
    zt__forget_records(tracer, &tracer->pools, &tracer->event_mutex);
    zt__forget_records(tracer, &tracer->events, &tracer->event_mutex);
    zt__forget_records(tracer, &tracer->kernel_names, &tracer->mutex);
    zt__forget_records(tracer, &tracer->allocations, &tracer->memory_mutex);
    tracer->captures = 0;
}

#endif
