/* zt_replace: other kernels in place of the application's. */

#include "tracer/replacements.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/text.h"
#include "base/threads.h"
#include "modules/loaded.h"
#include "tracer/module_files.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE ze_result_t zt__change_replacements(zt__modules *modules, const char *kernels,
                                                ze_module_handle_t module, zt__replacement *added,
                                                const char *call) {
    zt__wait wait = zt__wait_until(zt__deadline(modules->wait_timeout_ns));
    zt__replacement *replacement;
    zt__lock(&modules->mutex);
    for (replacement = modules->replacements; replacement; replacement = replacement->next) {
        replacement->has_ended |= (!kernels || strcmp(replacement->kernels, kernels) == 0) &&
                                  (!module || replacement->module == module);
    }
    if (added) {
        added->next = modules->replacements;
        modules->replacements = added;
    }
    zt__unlock(&modules->mutex);
    for (;;) {
        zt__replacement **place = &modules->replacements, *ended = NULL;
        int is_used = 1;
        zt__lock(&modules->mutex);
        for (; *place; place = &(*place)->next) {
            if ((*place)->has_ended) {
                ended = *place;
                is_used = ended->users > 0;
                if (!is_used) {
                    *place = ended->next;
                    break;
                }
            }
        }
        zt__unlock(&modules->mutex);
        if (!ended) {
            return ZE_RESULT_SUCCESS;
        }
        if (!is_used) {
            zt__free(&modules->allocator, ended);
        } else if (!zt__wait_again(&wait)) {
            return zt__report(modules->diagnostics, REPLACEMENT_IN_USE, ZE_RESULT_NOT_READY, call);
        }
    }
}

ZT__PRIVATE const char *zt__name_in_list(const void *names, uint32_t index) {
    return ((const char *const *)names)[index];
}

/* Returns what replaces a kernel or function of a module, for zt__end_use, or NULL. */
static zt__replacement *zt__begin_use(zt__modules *modules, ze_module_handle_t module, const char *name) {
    const void *handle = module;
    const zt__loaded_module *loaded;
    zt__replacement *replacement, *found = NULL;
    int is_elsewhere;
    zt__lock(modules->loaded->mutex);
    loaded = (const zt__loaded_module *)zt__map_find(&modules->loaded->modules, &handle, sizeof handle);
    is_elsewhere = loaded && loaded->context &&
                   (loaded->context != modules->context || loaded->device != modules->device);
    zt__unlock(modules->loaded->mutex);
    zt__lock(&modules->mutex);
    for (replacement = modules->replacements; replacement; replacement = replacement->next) {
        if (replacement->module == module) { /* kernels of a replacing module are not replaced */
            found = NULL;
            break;
        }
        if (!found && !replacement->has_ended && zt__is_selected(replacement->kernels, name)) {
            found = replacement;
        }
    }
    found = is_elsewhere ? NULL : found;
    if (found) {
        found->users++;
    }
    zt__unlock(&modules->mutex);
    return found;
}

/* Ends the use of a replacement, which may be freed then. Logs after that why something was not replaced,
   unless `reason` is "": a log function may call zt_replace. */
static void zt__end_use(zt__modules *modules, zt__replacement *replacement, const char *name,
                        ze_result_t result, const char *reason) {
    char other[65];
    zt__copy_text(other, sizeof other, replacement->name ? replacement->name : name,
                  strlen(replacement->name ? replacement->name : name));
    zt__lock(&modules->mutex);
    replacement->users--;
    if (result == ZE_RESULT_SUCCESS) {
        zt__store(&modules->replaced, modules->replaced + 1);
    }
    zt__unlock(&modules->mutex);
    if (*reason) {
        zt__report(modules->diagnostics, NOT_REPLACED, result, name, other, reason);
    }
}

ZT__PRIVATE void zt__replace_kernel(zt__modules *modules, const ze_kernel_create_params_t *parameters) {
    ze_kernel_desc_t desc = **parameters->pdesc;
    const char *name = desc.pKernelName, *call = "zeKernelCreate";
    zt__replacement *replacement = zt__begin_use(modules, *parameters->phModule, name);
    ze_kernel_handle_t *kernel = *parameters->pphKernel, replaced = *kernel, other = NULL;
    ze_kernel_properties_t properties, other_properties;
    char reason[128] = "";
    ze_result_t result;
    if (!replacement) {
        return;
    }
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    other_properties = properties;
    desc.pKernelName = replacement->name ? replacement->name : name;
    result = zeKernelCreate(replacement->module, &desc, &other);
    if (result == ZE_RESULT_SUCCESS) {
        call = "zeKernelGetProperties";
        result = zeKernelGetProperties(replaced, &properties);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zeKernelGetProperties(other, &other_properties);
    }
    if (result == ZE_RESULT_SUCCESS && properties.numKernelArgs == other_properties.numKernelArgs) {
        *kernel = other;
        *parameters->phModule = replacement->module;
    } else if (result == ZE_RESULT_SUCCESS) {
        snprintf(reason, sizeof reason, "it has %u arguments, and the other one %u",
                 (unsigned)properties.numKernelArgs, (unsigned)other_properties.numKernelArgs);
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    } else if (result != ZE_RESULT_ERROR_INVALID_KERNEL_NAME || replacement->name || other) {
        snprintf(reason, sizeof reason, "%s failed: %s", call, zt_result_name(result));
    }
    if (other && *kernel != other) { /* while its module is in use */
        zeKernelDestroy(other);
    }
    zt__end_use(modules, replacement, name, result, reason);
    if (*kernel != replaced) {
        zt__check(modules->diagnostics, zeKernelDestroy(replaced), "zeKernelDestroy",
                  "The kernel that was replaced is not freed.");
    }
}

ZT__PRIVATE void zt__replace_function(zt__modules *modules,
                                      const ze_module_get_function_pointer_params_t *parameters) {
    const char *name = *parameters->ppFunctionName;
    zt__replacement *replacement = zt__begin_use(modules, *parameters->phModule, name);
    char reason[128] = "";
    void *other = NULL;
    ze_result_t result;
    if (!replacement) {
        return;
    }
    result =
        zeModuleGetFunctionPointer(replacement->module, replacement->name ? replacement->name : name, &other);
    if (result == ZE_RESULT_SUCCESS) {
        **parameters->ppfnFunction = other;
    } else if (replacement->name || result != ZE_RESULT_ERROR_INVALID_FUNCTION_NAME) {
        snprintf(reason, sizeof reason, "zeModuleGetFunctionPointer failed: %s", zt_result_name(result));
    }
    zt__end_use(modules, replacement, name, result, reason);
}

#endif
