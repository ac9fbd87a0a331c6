/* Files that are read whole, and files that are written whole: beside the name, and then renamed. */

#include "base/files.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/platform.h"

ZT__PRIVATE ze_result_t zt__write_content(FILE *file, int (*end)(FILE *), zt__content_fn write,
                                          const void *content) {
    ze_result_t result;
    unsigned console;
    int reason;
    if (!file) {
        return ZE_RESULT_ERROR_UNKNOWN;
    }
    console = zt__begin_utf8(file);
    errno = 0;
    result = write(content, file);
    reason = errno;
    if (end(file) != 0 && result == ZE_RESULT_SUCCESS) {
        result = ZE_RESULT_ERROR_UNKNOWN;
        reason = errno;
    }
    zt__end_utf8(console);
    errno = reason;
    return result;
}

ZT__PRIVATE ze_result_t zt__replace_file(const char *path, zt__content_fn write, const void *content) {
    const char *name = zt__file_name(path);
    char beside[4096 + 64];
    zt__file_properties before;
    int reason, has_before = zt__get_file_properties(path, &before);
    FILE *part;
    ze_result_t result;
    if (!has_before && errno != ENOENT) { /* it may be there, and who may read it is not known */
        return ZE_RESULT_ERROR_UNKNOWN;
    }
    /* A long name is cut, because the name of a file has 255 bytes at the most. */
    snprintf(beside, sizeof beside, "%.*s%.128s.%ld.%lx.part", (int)(name - path), path, name,
             zt__get_process_id(), (unsigned long)zt__this_thread());
    part = zt__create_file(beside, has_before ? &before : NULL);
    result = zt__write_content(part, fclose, write, content);
    if (result == ZE_RESULT_SUCCESS && !zt__rename_file(beside, path)) {
        result = ZE_RESULT_ERROR_UNKNOWN;
    }
    if (part && result != ZE_RESULT_SUCCESS) {
        reason = errno;
        zt__remove_file(beside);
        errno = reason;
    }
    return result;
}

ZT__PRIVATE char *zt__read_file(const zt_allocator *allocator, const char *path, uint64_t most, size_t *size,
                                const char **why) {
    zt__file_properties properties;
    FILE *stream;
    char *text;
    *why = NULL;
    if (!zt__get_file_properties(path, &properties)) {
        *why = strerror(errno);
        return NULL;
    }
    if (!properties.is_regular || properties.size > most) {
        *why = properties.is_regular ? "it is too large" : "it is no regular file";
        return NULL;
    }
    stream = zt__open_file(path, ZT__TO_READ);
    if (!stream) {
        *why = strerror(errno);
        return NULL;
    }
    text = (char *)zt__allocate(allocator, 1, (size_t)properties.size + 1);
    if (text) {
        *size = fread(text, 1, (size_t)properties.size, stream);
        text[*size] = 0;
        *why = ferror(stream) ? strerror(errno) : NULL;
    }
    fclose(stream);
    if (*why) {
        zt__free(allocator, text);
        text = NULL;
    }
    return text;
}
