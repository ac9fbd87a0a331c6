/* Paths of files: names, suffixes and formats, lists of reports. */

#include "base/paths.h"

#include "base/compiler.h"
#include "base/platform.h"
#include "base/text.h"

ZT__PRIVATE const char *zt__file_name(const char *path) {
    const char *name = path;
    for (; *path; path++) {
        if (zt__is_separator(*path)) {
            name = path + 1;
        }
    }
    return name;
}

ZT__PRIVATE const zt__suffix *zt__find_suffix(const char *path) {
#ifdef ZETOOLS_NO_PAGE
    enum { PAGE_SHOWS_TIMELINE = 0 };
#else
    enum { PAGE_SHOWS_TIMELINE = 1 };
#endif
    /* A suffix stands before those that it ends with. */
    static const zt__suffix suffixes[] = {
        {".instances.csv", ZT_FORMAT_INSTANCES, 1, ZT__OF_FORMAT},
        {".folded", ZT_FORMAT_FOLDED, 0, ZT__OF_FORMAT},
        {".trace.json", ZT_FORMAT_TRACE, 1, ZT__OF_FORMAT},
        {".pftrace", ZT_FORMAT_TRACE, 1, ZT__OF_PERFETTO},
        {".json", ZT_FORMAT_JSON, 0, ZT__OF_FORMAT},
        {".csv", ZT_FORMAT_CSV, 0, ZT__OF_FORMAT},
        {".html", ZT_FORMAT_HTML, PAGE_SHOWS_TIMELINE, ZT__OF_FORMAT},
        {".htm", ZT_FORMAT_HTML, PAGE_SHOWS_TIMELINE, ZT__OF_FORMAT},
        {".prom", ZT_FORMAT_OPENMETRICS, 0, ZT__OF_FORMAT},
        {".txt", ZT_FORMAT_TABLE, 0, ZT__OF_FORMAT},
        {".zt", ZT_FORMAT_TABLE, 0, ZT__OF_PACK},
    };
    uint32_t i;
    for (i = 0; i < ZT__COUNT_OF(suffixes); i++) {
        if (zt__ends_with(path, suffixes[i].text, zt__compare_ignoring_case)) {
            return &suffixes[i];
        }
    }
    return NULL;
}

/* Returns the end of a file name from its last dot on, or "". */
static const char *zt__from_last_dot(const char *path) {
    const char *name = zt__file_name(path), *dot = strrchr(name, '.');
    return dot ? dot : path + strlen(path);
}

ZT__PRIVATE int zt__find_format(const char *path, zt_format *format) {
    const zt__suffix *suffix = zt__find_suffix(path);
    const char *ending = zt__from_last_dot(path);
    *format = suffix ? suffix->format : ZT_FORMAT_TABLE;
    return suffix || !*ending || strspn(ending + 1, "0123456789") == strlen(ending + 1);
}

ZT__PRIVATE FILE *zt__find_standard_stream(const char *path) {
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        return stdout;
    }
    return strcmp(path, "/dev/stderr") == 0 ? stderr : NULL;
}

ZT__PRIVATE zt__file_path zt__expand_path(const char *name, size_t length) {
    const char *end = name + length;
    zt__file_path path;
    size_t used = 0;
    path.is_of_process = 0;
    while (name < end) {
        char variable[256], number[24];
        const char *inserted = name, *brace = (const char *)memchr(name, '}', (size_t)(end - name));
        size_t size = 1;
        if (end - name >= 2 && memcmp(name, "%p", 2) == 0) {
            size = (size_t)snprintf(number, sizeof number, "%ld", zt__get_process_id());
            inserted = number;
            name += 2;
            path.is_of_process = 1;
        } else if (brace && brace - name >= 3 && memcmp(name, "%q{", 3) == 0) {
            zt__copy_text(variable, sizeof variable, name + 3, (size_t)(brace - name - 3));
            inserted = zt__get_variable(variable);
            size = inserted ? strlen(inserted) : 0;
            name = brace + 1;
            path.is_of_process |= size == 0;
        } else {
            name++;
        }
        if (used + size >= sizeof path.text) {
            size = sizeof path.text - used - 1;
        }
        memcpy(path.text + used, inserted ? inserted : "", size);
        used += size;
    }
    path.text[used] = 0;
    return path;
}

ZT__PRIVATE int zt__next_path(const char **list, zt__file_path *path) {
    const char *name;
    size_t length;
    if (!zt__next_name(list, &name, &length)) {
        return 0;
    }
    *path = zt__expand_path(name, length);
    if (zt__compare_ignoring_case(path->text, "table") == 0) {
        strcpy(path->text, "-");
    }
    return 1;
}

ZT__PRIVATE int zt__is_file(const char *path) {
    zt__file_properties target;
    return !zt__find_standard_stream(path) && (!zt__get_file_properties(path, &target) || target.is_regular);
}

ZT__PRIVATE void zt__number_path(zt__file_path *path, uint32_t n) {
    const zt__suffix *suffix = zt__find_suffix(path->text);
    const char *tail = zt__from_last_dot(path->text);
    zt__file_path given = *path;
    if (suffix) {
        tail = path->text + strlen(path->text) - strlen(suffix->text);
    }
    if (n > 1 && zt__is_file(path->text)) {
        size_t length = (size_t)(tail - path->text);
        snprintf(path->text, sizeof path->text, "%.*s.%u%s", (int)length, given.text, (unsigned)n,
                 given.text + length);
    }
}
