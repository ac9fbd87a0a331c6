/* zt_trace_config.modules: the binaries of the application's modules as files. */

#include "tracer/module_files.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/platform.h"
#include "modules/loaded.h"

#ifdef ZETOOLS_TRACER

ZT__PRIVATE void zt__report_not_saved(zt__modules *modules, const char *directory, ze_result_t result,
                                      const char *call, const char *reason, const char *remedy) {
    int is_first;
    zt__lock(&modules->mutex);
    is_first = modules->failures == 0;
    if (is_first) {
        snprintf(modules->failure.text, sizeof modules->failure.text, zt__format_MODULE_NOT_SAVED, call,
                 reason, directory, remedy);
    }
    zt__store(&modules->failures, modules->failures + 1);
    zt__unlock(&modules->mutex);
    if (is_first) {
        zt__report(modules->diagnostics, MODULE_NOT_SAVED, result, call, reason, directory, remedy);
    }
}

ZT__PRIVATE void zt__configure_modules(zt__modules *modules, const char *directory) {
    enum { LONGEST = 4096 };
    size_t size = directory ? strlen(directory) + 1 : 0;
    char *absolute;
    zt__free(&modules->allocator, modules->directory);
    modules->directory = NULL;
    if (size <= 1) {
        return;
    }
    if (!zt__make_directory(directory)) {
        zt__report_not_saved(modules, directory, ZE_RESULT_ERROR_UNKNOWN, "mkdir", strerror(errno),
                             "Make the directory, or the one that it is in.");
        return;
    }
    absolute = (char *)zt__allocate(&modules->allocator, LONGEST + size, 1);
    if (!absolute) {
        zt__report_not_saved(modules, directory, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "malloc",
                             "no memory for a path", "Free some.");
        return;
    }
    if (!zt__is_absolute(directory)) {
        if (!zt__get_working_directory(absolute, LONGEST)) {
            zt__report_not_saved(modules, directory, ZE_RESULT_ERROR_UNKNOWN, "getcwd", strerror(errno),
                                 "Use the absolute path of a directory.");
            zt__free(&modules->allocator, absolute);
            return;
        }
        strcat(absolute, "/");
    }
    strcat(absolute, directory);
    modules->directory = absolute;
}

static ze_result_t zt__write_binary(const void *content, FILE *file) {
    const zt__binary *binary = (const zt__binary *)content;
    return zt__write_to_file(binary->bytes, binary->size, file) == 0 ? ZE_RESULT_SUCCESS
                                                                     : ZE_RESULT_ERROR_UNKNOWN;
}

ZT__PRIVATE void zt__save_binary(zt__modules *modules, uint64_t hash, const char *suffix,
                                 const zt__binary *binary) {
    size_t room = strlen(modules->directory) + 64;
    char *path = (char *)zt__allocate(&modules->allocator, 1, room);
    zt__file_properties before;
    if (!path) {
        zt__report_not_saved(modules, modules->directory, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "malloc",
                             "no memory for a path", "Free some.");
        return;
    }
    snprintf(path, room, "%s/%016llx.%s", modules->directory, (unsigned long long)hash, suffix);
    if ((!zt__get_file_properties(path, &before) || before.size != binary->size) &&
        zt__replace_file(path, zt__write_binary, binary) != ZE_RESULT_SUCCESS) {
        zt__report_not_saved(modules, modules->directory, ZE_RESULT_ERROR_UNKNOWN, "write", strerror(errno),
                             "Check the directory, its permissions and space.");
    }
    zt__free(&modules->allocator, path);
}

#endif
