/* Builds of the application's modules: profile flags are added before, files are written after. */

#include "tracer/profiled_builds.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "modules/loaded.h"
#include "tracer/module_files.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE void zt__begin_build(zt__modules *modules, const ze_module_create_params_t *parameters,
                                 zt__build *build) {
    const ze_module_desc_t *desc = *parameters->pdesc;
    const char *flags = desc && desc->pBuildFlags ? desc->pBuildFlags : "";
    const ze_base_desc_t *next = (const ze_base_desc_t *)(desc ? desc->pNext : NULL);
    ze_module_desc_t *changed; /* its build flags follow it */
    ze_module_handle_t module = NULL;
    size_t room = strlen(flags) + 64;
    if (!desc || !modules->profile_flags || strstr(flags, "-zet-profile-flags") ||
        (next && next->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)) {
        return;
    }
    changed = (ze_module_desc_t *)zt__allocate(&zt__default_allocator, 1, sizeof *changed + room);
    if (!changed) {
        zt__report_no_memory(modules->diagnostics, "zeModuleCreate", "build flags");
        return;
    }
    *changed = *desc;
    changed->pBuildFlags = (const char *)memcpy(changed + 1, flags, strlen(flags));
    snprintf((char *)(changed + 1) + strlen(flags), room - strlen(flags), "%s-zet-profile-flags 0x%x",
             *flags ? " " : "", (unsigned)modules->profile_flags);
    build->trial = zeModuleCreate(*parameters->phContext, *parameters->phDevice, changed, &module, NULL);
    if (build->trial != ZE_RESULT_SUCCESS) {
        zt__free(&zt__default_allocator, changed);
        return;
    }
    zt__check(modules->diagnostics, zeModuleDestroy(module), "zeModuleDestroy", "A module is not freed.");
    build->place = parameters->pdesc;
    build->before = desc;
    build->changed = changed;
    *parameters->pdesc = changed;
}

ZT__PRIVATE void zt__end_build(zt__modules *modules, const ze_module_create_params_t *parameters,
                               const zt__build *build) {
    const char *remedy = "Free some memory, or update the driver.", *suffix = "bin";
    ze_module_handle_t module = **parameters->pphModule;
    zt__binary binary, debug;
    uint64_t hash;
    ze_result_t result;
    if (build->trial != ZE_RESULT_SUCCESS) {
        zt__report(modules->diagnostics, FLAGS_REFUSED, build->trial, zt_result_name(build->trial),
                   (unsigned)modules->profile_flags);
    }
    if (!modules->directory) {
        return;
    }
    result = zt__read_binary(&modules->allocator, module, 0, SIZE_MAX, &binary);
    if (!binary.bytes) {
        int is_empty = result == ZE_RESULT_SUCCESS;
        zt__report_not_saved(modules, modules->directory, is_empty ? ZE_RESULT_ERROR_UNKNOWN : result,
                             "zeModuleGetNativeBinary",
                             is_empty ? "the binary has no bytes" : zt_result_name(result), remedy);
        return;
    }
    if (binary.size >= 4 && memcmp(binary.bytes, "\177ELF", 4) == 0) {
        suffix = "elf";
    } else if (binary.size >= 8 && memcmp(binary.bytes, "!<arch>\n", 8) == 0) {
        suffix = "ar";
    }
    hash = zt__hash(binary.bytes, binary.size);
    zt__save_binary(modules, hash, suffix, &binary);
    zt__free(&modules->allocator, binary.bytes);
    result = zt__read_binary(&modules->allocator, module, 1, SIZE_MAX, &debug);
    if (debug.bytes) {
        zt__save_binary(modules, hash, "debug", &debug);
        zt__free(&modules->allocator, debug.bytes);
    } else if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) {
        zt__report_not_saved(modules, modules->directory, result, "zetModuleGetDebugInfo",
                             zt_result_name(result), remedy);
    }
}

#endif
