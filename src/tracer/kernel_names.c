/* Names of kernels. */

#include "tracer/kernel_names.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "modules/loaded.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Adds a record that was allocated, or frees it if there is one of this name. No mutex is held. Returns the
   record in use, or NULL without memory, or if `made` is NULL. */
static zt__kernel_name *zt__add_name(zt__tracer *tracer, zt__kernel_name *made) {
    size_t length = made ? strlen(made->text) : 0;
    zt__kernel_name *name = NULL;
    zt__lock(&tracer->mutex);
    if (made && zt__map_make_room(&tracer->kernel_names, &tracer->allocator, &tracer->mutex)) {
        name = (zt__kernel_name *)zt__map_find(&tracer->kernel_names, made->text, length);
        if (!name) {
            made->is_selected = zt__is_selected(tracer->names, made->text);
            zt__map_add(&tracer->kernel_names, made->text, length, made);
            name = made;
            made = NULL;
        }
    }
    zt__unlock(&tracer->mutex);
    zt__free(&tracer->allocator, made);
    return name;
}

ZT__PRIVATE zt__kernel_name *zt__name_of_kernel(zt__tracer *tracer, ze_kernel_handle_t kernel,
                                                int knows_handle) {
    zt__loaded_kernel *known;
    zt__kernel_name *name;
    zt__lock(&tracer->mutex);
    known = zt__find_loaded_kernel(tracer, kernel);
    name = known && knows_handle ? known->name : NULL;
    zt__unlock(&tracer->mutex);
    if (name) {
        return name;
    }
    name = (zt__kernel_name *)zt__allocate_with_name(&tracer->allocator, sizeof *name, kernel);
    if (name) {
        name->text = (char *)(name + 1);
    }
    name = zt__add_name(tracer, name);
    if (name && name->text[0] && knows_handle) {
        zt__lock(&tracer->mutex);
        known = zt__remember_kernel(tracer, kernel);
        if (known) {
            known->name = name;
        }
        zt__unlock(&tracer->mutex);
    }
    return name;
}

ZT__PRIVATE zt__kernel_name *zt__find_or_add_name(zt__tracer *tracer, const char *text, uint32_t others) {
    char number[16] = "";
    size_t size;
    zt__kernel_name *name = NULL;
    if (others) {
        snprintf(number, sizeof number, " +%u", (unsigned)others);
    } else {
        zt__lock(&tracer->mutex);
        name = (zt__kernel_name *)zt__map_find(&tracer->kernel_names, text, strlen(text));
        zt__unlock(&tracer->mutex);
    }
    if (name) {
        return name;
    }
    size = strlen(text) + strlen(number) + 1;
    name = (zt__kernel_name *)zt__allocate(&tracer->allocator, 1, sizeof *name + size);
    if (name) {
        name->text = (char *)(name + 1);
        snprintf(name->text, size, "%s%s", text, number);
    }
    return zt__add_name(tracer, name);
}

#endif
