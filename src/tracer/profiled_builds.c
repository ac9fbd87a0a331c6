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

/* A copy of a description, with another option in its build flags, which follow the structure. */
typedef struct zt__changed_module {
    ze_module_desc_t desc;
    ze_module_program_exp_desc_t program; /* if the module is built from several inputs */
} zt__changed_module;

/* Writes build flags with another option behind them to `*end`, which moves behind that. */
static const char *zt__join_flags(char **end, const char *flags, const char *option) {
    char *joined = *end;
    size_t length = flags ? strlen(flags) : 0;
    if (length > 0) {
        memcpy(joined, flags, length);
        joined[length++] = ' ';
    }
    strcpy(joined + length, option);
    *end = joined + length + strlen(option) + 1;
    return joined;
}

ZT__PRIVATE void zt__begin_build(zt__modules *modules, const ze_module_create_params_t *parameters,
                                 zt__build *build) {
    const ze_module_desc_t *desc = *parameters->pdesc;
    const ze_module_program_exp_desc_t *program;
    ze_module_handle_t module = NULL;
    zt__changed_module *changed;
    const char **flags;
    size_t room, size;
    uint32_t i, count = 0;
    int is_known;
    char option[64], *end;
    if (!desc || !modules->profile_flags || zt__load(&modules->refuses_flags) ||
        (desc->pBuildFlags && strstr(desc->pBuildFlags, "-zet-profile-flags"))) {
        return;
    }
    snprintf(option, sizeof option, "-zet-profile-flags 0x%x", (unsigned)modules->profile_flags);
    program = (const ze_module_program_exp_desc_t *)desc->pNext;
    if (program && program->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC) {
        count = program->count;
    }
    room = strlen(option) + 2;
    size = sizeof *changed + room + (desc->pBuildFlags ? strlen(desc->pBuildFlags) : 0);
    for (i = 0; i < count; i++) {
        size += sizeof *flags + room;
        size += program->pBuildFlags && program->pBuildFlags[i] ? strlen(program->pBuildFlags[i]) : 0;
    }
    changed = (zt__changed_module *)zt__allocate(&zt__default_allocator, size, 1);
    if (!changed) {
        zt__report_no_memory(modules->diagnostics, "zeModuleCreate", "build flags");
        return;
    }
    flags = (const char **)(changed + 1);
    end = (char *)(flags + count);
    changed->desc = *desc;
    changed->desc.pBuildFlags = zt__join_flags(&end, desc->pBuildFlags, option);
    if (count > 0) {
        changed->program = *program;
        changed->program.pBuildFlags = flags;
        changed->desc.pNext = &changed->program;
    }
    for (i = 0; i < count; i++) {
        flags[i] = zt__join_flags(&end, program->pBuildFlags ? program->pBuildFlags[i] : NULL, option);
    }
    zt__lock(&modules->mutex);
    for (i = 0; i < modules->accepting_count && modules->accepting[i] != *parameters->phDevice;) {
        i++;
    }
    is_known = i < modules->accepting_count;
    zt__unlock(&modules->mutex);
    if (!is_known) {
        build->trial =
            zeModuleCreate(*parameters->phContext, *parameters->phDevice, &changed->desc, &module, NULL);
        if (build->trial != ZE_RESULT_SUCCESS) {
            zt__free(&zt__default_allocator, changed);
            return;
        }
        zt__check(modules->diagnostics, zeModuleDestroy(module), "zeModuleDestroy", "A module is not freed.");
        zt__lock(&modules->mutex);
        if (modules->accepting_count < ZT__COUNT_OF(modules->accepting)) {
            modules->accepting[modules->accepting_count++] = *parameters->phDevice;
        }
        zt__unlock(&modules->mutex);
    }
    build->place = parameters->pdesc;
    build->before = desc;
    build->changed = changed;
    *parameters->pdesc = &changed->desc;
}

ZT__PRIVATE void zt__end_build(zt__modules *modules, const ze_module_create_params_t *parameters,
                               const zt__build *build) {
    const char *remedy = "Free some memory, or update the driver.", *suffix = "bin";
    ze_module_handle_t module = **parameters->pphModule;
    zt__binary binary, debug;
    uint64_t hash;
    ze_result_t result;
    if (build->trial != ZE_RESULT_SUCCESS) {
        zt__store(&modules->refuses_flags, 1);
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
