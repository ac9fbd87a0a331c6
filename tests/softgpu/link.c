/* Modules that import functions and variables of others. */
#include "module.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MODULES = 256 };

static bool has_imports(const sg_module *module) {
    return module->code->first_import < module->code->last_import;
}

bool sg_module_is_linked(const sg_module *module) {
    return !has_imports(module) || atomic_load(&module->is_linked);
}

ze_result_t sg_zeModuleGetProperties(ze_module_handle_t handle, ze_module_properties_t *properties) {
    const sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(properties);
    properties->flags = has_imports(module) ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    return ZE_RESULT_SUCCESS;
}

/* The modules of a call, each once, and what the log says of them. */
typedef struct link {
    uint32_t count;
    sg_module *modules[MAX_MODULES];
    char log[SG_LOG_BYTES];
} link;

static void note(link *of, const char *what, const softgpu_import *import) {
    size_t used = strlen(of->log);
    snprintf(of->log + used, sizeof of->log - used, "%s%s %s", used ? "\n" : "", what, import->name);
}

/* Where the import is in another of the modules; NULL, and a line in the log, if in none or in several. */
static void *resolve(link *of, const sg_module *importer, const softgpu_import *import) {
    void *found = NULL;
    for (uint32_t i = 0; i < of->count; ++i) {
        void *exported = of->modules[i] == importer ? NULL : sg_find_export(of->modules[i]->code, import);
        if (exported && found) {
            note(of, "ambiguous:", import);
            return NULL;
        }
        found = exported ? exported : found;
    }
    if (!found)
        note(of, "unresolved:", import);
    return found;
}

/* All or nothing: the addresses are stored when each is known. */
static ze_result_t link_modules(link *of) {
    for (int store = 0; store < 2; ++store) {
        for (uint32_t i = 0; i < of->count; ++i) {
            sg_module *module = of->modules[i];
            const softgpu_import *const *import = module->code->first_import;
            for (; import < module->code->last_import && !sg_module_is_linked(module); ++import) {
                void *address = resolve(of, module, *import);
                if (store)
                    *(*import)->place = address;
            }
            if (store)
                atomic_store(&module->is_linked, true);
        }
        if (*of->log)
            return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t gather(link *of, uint32_t count, const ze_module_handle_t *handles) {
    for (uint32_t i = 0; i < count; ++i) {
        sg_module *module = sg_module_of(handles[i]);
        SG_NEED_HANDLE(module);
        bool is_known = false;
        for (uint32_t k = 0; k < of->count; ++k)
            is_known |= of->modules[k] == module;
        if (is_known)
            continue;
        if (of->count == MAX_MODULES)
            return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
        if (of->count && module->object.parent != of->modules[0]->object.parent)
            sg_finding("MODULES of several contexts linked");
        of->modules[of->count++] = module;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeModuleDynamicLink(uint32_t count, ze_module_handle_t *handles,
                                   ze_module_build_log_handle_t *out_log) {
    link of = {.count = 0};
    SG_NEED_POINTER(handles);
    ze_result_t result = gather(&of, count, handles);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = link_modules(&of);
    void *context = of.count ? of.modules[0]->object.parent : NULL;
    if (out_log && sg_create_log(of.log, context, out_log) != ZE_RESULT_SUCCESS)
        *out_log = NULL;
    return result;
}
