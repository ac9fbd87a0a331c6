/* Modules and kernels, before and after calls that create, launch or destroy them. */

#include "tracer/seen_modules.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "modules/kernel_facts.h"
#include "modules/kernels.h"
#include "modules/loaded.h"
#include "modules/ze_info.h"
#include "regions/profiler.h"
#include "tracer/calls.h"
#include "tracer/frames.h"
#include "tracer/graphs.h"
#include "tracer/hotspots.h"
#include "tracer/kernel_names.h"
#include "tracer/lists.h"
#include "tracer/profiled_builds.h"
#include "tracer/replacements.h"
#include "tracer/sampled_kernels.h"
#include "tracer/sampling.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* ---- what is loaded -------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__observe_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel) {
    zt__traced_device *device = NULL;
    zt__loaded_kernel *record, placed;
    zt__lock(&tracer->mutex);
    record = zt__remember_kernel(tracer, kernel);
    if (record && record->may_be_destroyed) { /* the driver has refused */
        record->may_be_destroyed = record->is_placed = 0;
    }
    if (record && !record->is_placed && zt__load(&tracer->loaded.is_sampled)) {
        device = zt__next_measured(tracer, NULL);
        record->is_placed = 1;
        placed = *record;
    }
    zt__unlock(&tracer->mutex);
    for (; device; device = zt__next_measured(tracer, device)) {
        if (zt__is_sampling(device->profiler)) {
            zt__place_kernel(zt__hotspots_of(device->profiler), &placed);
        }
    }
}

/* Called before a kernel or, if it is not NULL, a module is destroyed: reads its samples of hot spots. */
static void zt__observe_unload(zt__tracer *tracer, ze_module_handle_t module) {
    zt__traced_device *device = zt__next_measured(tracer, NULL);
    for (; device; device = zt__next_measured(tracer, device)) {
        zt__before_unload(zt__hotspots_of(device->profiler), module);
    }
}

/* ---- before and after a call: modules and kernels --------------------------------------------------------- */

ZT__PRIVATE void zt__before_module_create(zt__frame *frame) {
    zt__begin_build(&frame->tracer->modules, ZT__PARAMETERS(frame, ze_module_create_params_t), &frame->build);
}

ZT__PRIVATE void zt__after_module_create(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const ze_module_create_params_t *p = ZT__PARAMETERS(frame, ze_module_create_params_t);
    zt__loaded_module *module;
    zt__end_build(&tracer->modules, p, &frame->build);
    zt__forget_handle(tracer, &tracer->loaded.modules, **p->pphModule);
    zt__lock(&tracer->mutex);
    module = (zt__loaded_module *)zt__find_or_add_record(&tracer->loaded, &tracer->loaded.modules,
                                                         **p->pphModule, sizeof *module);
    if (module) {
        module->context = *p->phContext;
        module->device = *p->phDevice;
    }
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE void zt__before_module_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_module_handle_t module = *ZT__PARAMETERS(frame, ze_module_destroy_params_t)->phModule;
    zt__loaded_module *known;
    zt__lock(&tracer->mutex);
    known = zt__find_loaded_module(tracer, module);
    if (known) {
        known->may_be_destroyed = 1;
    }
    zt__unlock(&tracer->mutex);
    zt__change_replacements(&tracer->modules, NULL, module, NULL, "zeModuleDestroy");
    zt__observe_unload(tracer, module);
}

ZT__PRIVATE void zt__after_module_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_module_handle_t module = *ZT__PARAMETERS(frame, ze_module_destroy_params_t)->phModule;
    const void *handle = module;
    zt__loaded_module *known;
    zt__lock(&tracer->mutex);
    known = zt__find_loaded_module(tracer, module);
    if (known && known->may_be_destroyed) {
        zt__map_remove(&tracer->loaded.modules, &handle, sizeof handle);
    } else {
        known = NULL;
    }
    zt__unlock(&tracer->mutex);
    if (known) {
        zt__free_described_module(&tracer->allocator, known->described);
    }
    zt__free(&tracer->allocator, known);
}

ZT__PRIVATE void zt__after_get_function(zt__frame *frame) {
    zt__replace_function(&frame->tracer->modules,
                         ZT__PARAMETERS(frame, ze_module_get_function_pointer_params_t));
}

ZT__PRIVATE void zt__put_kernel_in_place(zt__frame *frame) {
    const ze_kernel_create_params_t *p = ZT__PARAMETERS(frame, ze_kernel_create_params_t);
    zt__replace_kernel(&frame->tracer->modules, p);
    frame->module = *p->phModule;
    frame->created = **p->pphKernel;
}

ZT__PRIVATE void zt__after_group_size(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const ze_kernel_set_group_size_params_t *p = ZT__PARAMETERS(frame, ze_kernel_set_group_size_params_t);
    zt__loaded_kernel *known;
    zt__lock(&tracer->mutex);
    known = zt__remember_kernel(tracer, *p->phKernel);
    if (known) {
        known->group_size[0] = *p->pgroupSizeX;
        known->group_size[1] = *p->pgroupSizeY;
        known->group_size[2] = *p->pgroupSizeZ;
    }
    zt__unlock(&tracer->mutex);
}

/* Copies what is known of a launched kernel, whose record in the profiler is looked up once. `known` is zeroed. */
static void zt__copy_kernel(const zt__frame *frame, ze_kernel_handle_t kernel, int knows_handle,
                            zt__loaded_kernel *known) {
    zt__tracer *tracer = frame->tracer;
    zt__kernel_facts described = zt__unknown_facts();
    zt__loaded_kernel *record = NULL;
    const zt__loaded_module *module;
    if (knows_handle) {
        zt__lock(&tracer->mutex);
        record = zt__find_loaded_kernel(tracer, kernel);
        if (record) { /* else it was destroyed, on another thread, when its work was done */
            *known = *record;
        }
        module = zt__find_loaded_module(tracer, known->module);
        if (module && module->described && known->name && known->counted_for != frame->counted_for) {
            described = zt__describe_kernel(module->described, known->name->text);
        }
        zt__unlock(&tracer->mutex);
    }
    if (known->name && !known->name->is_selected) {
        return;
    }

    if (!knows_handle || (record && known->counted_for != frame->counted_for)) {
        known->counted = zt__find_or_add_kernel(frame->counted_for, kernel, &described);
    }
    if (record && known->counted_for != frame->counted_for) {
        zt__lock(&tracer->mutex);
        record = zt__find_loaded_kernel(tracer, kernel);
        if (record) {
            record->counted_for = frame->counted_for;
            record->counted = known->counted;
        }
        zt__unlock(&tracer->mutex);
    }
}

ZT__PRIVATE void zt__after_launch(zt__frame *frame) {
    const zt__command *command = &frame->command;
    uint32_t i;
    zt__after_command(frame);
    for (i = 0; frame->tracer->measured[frame->call] && frame->counted_for && i < command->kernel_count;
         i++) {
        zt_kernel_shape shape;
        zt__origin origin;
        zt__loaded_kernel looked_up;
        const zt__loaded_kernel *known = &frame->kernel;
        if (i > 0 || !known->name || known->counted_for != frame->counted_for) {
            memset(&looked_up, 0, sizeof looked_up);
            zt__copy_kernel(frame, zt__launched_kernel(frame, command, i), i > 0 || frame->knows_kernel,
                            &looked_up);
            known = &looked_up;
        }
        if (known->name && !known->name->is_selected) {
            continue;
        }

        memcpy(origin.group_size, known->group_size, sizeof origin.group_size);
        memset(origin.group_count, 0, sizeof origin.group_count);
        zt__read_size(frame->call, frame->parameters, &origin);
        memset(&shape, 0, sizeof shape);
        memcpy(shape.group_size, origin.group_size, sizeof shape.group_size);
        memcpy(shape.group_count, origin.group_count, sizeof shape.group_count);
        zt__count_kernel(frame->counted_for, known->counted, &shape);
    }
}

ZT__PRIVATE void zt__note_kernel_destroy(zt__tracer *tracer, ze_kernel_handle_t kernel) {
    zt__loaded_kernel *known;
    zt__lock(&tracer->mutex);
    known = zt__find_loaded_kernel(tracer, kernel);
    if (known) {
        known->may_be_destroyed = 1;
    }
    zt__unlock(&tracer->mutex);
}

ZT__PRIVATE void zt__before_kernel_destroy(zt__frame *frame) {
    zt__note_kernel_destroy(frame->tracer, *ZT__PARAMETERS(frame, ze_kernel_destroy_params_t)->phKernel);
    zt__observe_unload(frame->tracer, NULL);
}

ZT__PRIVATE void zt__after_kernel_destroy(zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    const void *const handles[2] = {frame->kernel_before_hooks,
                                    *ZT__PARAMETERS(frame, ze_kernel_destroy_params_t)->phKernel};
    zt__loaded_kernel *known;
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(handles); i++) {
        zt__lock(&tracer->mutex);
        known = (zt__loaded_kernel *)zt__map_find(&tracer->loaded.kernels, &handles[i], sizeof handles[i]);
        if (known && known->may_be_destroyed) {
            zt__map_remove(&tracer->loaded.kernels, &handles[i], sizeof handles[i]);
        } else {
            known = NULL;
        }
        zt__unlock(&tracer->mutex);
        zt__free(&tracer->allocator, known);
    }
}

ZT__PRIVATE void zt__after_kernel_create(const zt__frame *frame) {
    zt__tracer *tracer = frame->tracer;
    ze_kernel_handle_t kernel = **ZT__PARAMETERS(frame, ze_kernel_create_params_t)->pphKernel;
    zt__loaded_module *module = NULL;
    zt__loaded_kernel *known;
    int is_needed, is_read;
    zt__forget_handle(tracer, &tracer->loaded.kernels, kernel);
    zt__lock(&tracer->mutex);
    if (kernel == frame->created) {
        module = (zt__loaded_module *)zt__find_or_add_record(&tracer->loaded, &tracer->loaded.modules,
                                                             frame->module, sizeof *module);
    }
    known = zt__remember_kernel(tracer, kernel);
    if (known && kernel == frame->created) {
        known->module = frame->module;
        known->device = module ? module->device : NULL;
    }
    is_needed = module && tracer->measured[ZT__CALL_CommandListAppendLaunchKernel];
    is_read = is_needed && module->described;
    zt__unlock(&tracer->mutex);
    if (is_needed) {
        zt__name_of_kernel(tracer, kernel, 1);
    }
    if (is_needed && !is_read) {
        zt__described_module *described = zt__describe_module(&tracer->allocator, frame->module);
        zt__lock(&tracer->mutex);
        module = zt__find_loaded_module(tracer, frame->module);
        if (module && !module->described) { /* else another thread was faster */
            module->described = described;
            described = NULL;
        }
        zt__unlock(&tracer->mutex);
        zt__free_described_module(&tracer->allocator, described);
    }
    zt__observe_kernel(tracer, kernel);
}

#endif
