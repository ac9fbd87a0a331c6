/* zt_write and zt_report: formats and files. */

#include "reports/writing.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/tables.h"
#include "base/writer.h"
#include "regions/collecting.h"
#include "regions/profiler.h"
#include "reports/csv.h"
#include "reports/facts.h"
#include "reports/folded.h"
#include "reports/json.h"
#include "reports/openmetrics.h"
#include "reports/page.h"
#include "reports/table.h"
#include "reports/trace.h"
#include "results/results.h"

ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    static void (*const writers[])(zt__document *) = {
        zt__write_region_table, zt__write_csv,         zt__write_json,      zt__write_trace,
        zt__write_html,         zt__write_openmetrics, zt__write_instances, zt__write_folded}; /* by format */
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt_profiler *locked = zt__mutable(profiler);
    const zt_allocator *allocator;
    zt__document *document;
    uint32_t i;
    int stopped, reason;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!write) {
        return zt__report_null(diagnostics, "zt_write", "write");
    }
    if ((unsigned)format >= ZT__COUNT_OF(writers)) {
        return zt__report(diagnostics, BAD_FORMAT, ZE_RESULT_ERROR_INVALID_ENUMERATION, (int)format);
    }
    if ((format == ZT_FORMAT_TRACE || format == ZT_FORMAT_INSTANCES) && !profiler->config.timeline) {
        return zt__report(diagnostics, NO_KEPT_SAMPLES, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    if (format == ZT_FORMAT_HTML && !zt__get_page(&i)) {
        return zt__report(diagnostics, NO_PAGE, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    allocator = &profiler->config.allocator;
    document = (zt__document *)zt__allocate(allocator, 1, sizeof *document);
    if (!document) {
        return zt__report_no_memory(diagnostics, "zt_write", "a report");
    }
    document->profiler = locked;
    document->room = zt__get_room(write == zt__write_to_file && user == stdout);
    document->region_count = zt_get_region_count(profiler);
    zt__begin_writing(&document->writer, write, user);
    document->stats = (zt_stats *)zt__allocate(allocator, profiler->row_length, sizeof *document->stats);
    document->nesting =
        (zt__nesting *)zt__allocate(allocator, (size_t)document->region_count + 1, sizeof *document->nesting);
    document->out_of_memory = !document->stats || !document->nesting;

    zt__lock(&locked->mutex);
    for (i = 0; i < document->region_count && document->nesting; i++) {
        zt__nesting *nesting = &document->nesting[i];
        const zt__path *path;
        zt_region_info info;
        double estimate;
        zt__add_paths(profiler, profiler->regions[i], &info);
        /* A region without samples may since have begun inside one that is newer than the report. */
        nesting->parent = info.parent < document->region_count ? info.parent : UINT32_MAX;
        nesting->own_ns = info.own_ns;
        nesting->total_ns = info.total_ns;
        for (path = profiler->regions[i]->paths; path; path = path->next) {
            zt__get_own_time(path, &estimate);
            nesting->share += estimate;
            document->is_nested |= path->depth > 1;
        }
        document->gpu_time_ns += nesting->share;
    }
    zt__unlock(&locked->mutex);
    for (i = 0; i < document->region_count && document->nesting; i++) {
        document->nesting[i].share =
            document->gpu_time_ns > 0 ? document->nesting[i].share / document->gpu_time_ns : zt__nan();
    }

#ifdef ZETOOLS_TRACER
    if (format != ZT_FORMAT_TRACE && format != ZT_FORMAT_OPENMETRICS && format != ZT_FORMAT_INSTANCES) {
        zt_hotspots_find_lines(locked);
    }
#endif
    if (!document->out_of_memory) {
        writers[format](document);
    }
    stopped = !zt__end_writing(&document->writer);
    reason = errno;
    if (document->out_of_memory) {
        result = zt__report_no_memory(diagnostics, "zt_write", "a report");
    } else if (stopped && write == zt__write_to_file) {
        result = ZE_RESULT_ERROR_UNKNOWN; /* zt_report reports why, by errno */
    } else if (stopped) {
        result = zt__report(diagnostics, WRITE_STOPPED, ZE_RESULT_ERROR_UNKNOWN, "zt_write");
    }
    zt__free(allocator, document->nesting);
    zt__free(allocator, document->stats);
    zt__free(allocator, document);
    errno = reason; /* which the allocator may have changed */
    return result;
}

/* ---- files ----------------------------------------------------------------------------------------------- */

static ze_result_t zt__report_unwritable(const zt__output *output) {
    return zt__report(output->diagnostics, CANNOT_WRITE, ZE_RESULT_ERROR_UNKNOWN, output->call, output->path,
                      strerror(errno ? errno : EIO)); /* not all streams tell the reason */
}

/* Writes to `file`, and then calls `end` with it: fclose, or fflush for a standard stream. */
static ze_result_t zt__write_content(const zt__output *output, FILE *file, int (*end)(FILE *)) {
    ze_result_t result;
    unsigned console;
    int reason;
    if (!file) {
        return zt__report_unwritable(output);
    }
    console = zt__begin_utf8(file);
    errno = 0;
    result = output->write_content(output->content, file);
    reason = errno;
    if (end(file) != 0 && result == ZE_RESULT_SUCCESS) {
        result = ZE_RESULT_ERROR_UNKNOWN;
        reason = errno;
    }
    zt__end_utf8(console);
    errno = reason;
    return result == ZE_RESULT_ERROR_UNKNOWN ? zt__report_unwritable(output) : result;
}

/* The file that a report goes to, and the one that it is written to first. */
typedef struct zt__target_file {
    char path[4096];
    char link[4096];
    char beside[4096 + 64];
} zt__target_file;

ZT__PRIVATE ze_result_t zt__write_output(const zt__output *output) {
    enum { MOST_LINKS = 40 };
    FILE *stream = zt__find_standard_stream(output->path), *part;
    zt__file_properties before;
    zt__target_file *file;
    const char *name, *next = output->path;
    size_t directory = 0; /* length of the directory that `next` is relative to */
    uint32_t links;
    ze_result_t result;
    int is_link = 1, has_before;
    if (stream) {
        return zt__write_content(output, stream, fflush);
    }
    has_before = zt__get_file_properties(output->path, &before);
    if (!has_before && errno != ENOENT) { /* a file that may be there, whose permissions are not known */
        return zt__report_unwritable(output);
    }
    if (has_before && !before.is_regular && !before.is_directory) {
        return zt__write_content(output, zt__open_file(output->path, ZT__TO_WRITE), fclose);
    }
    file = (zt__target_file *)zt__allocate(output->allocator, 1, sizeof *file);
    if (!file) {
        return zt__report_no_memory(output->diagnostics, output->call, "a path");
    }

    /* Follows symbolic links. What they lead to need not exist. */
    for (links = 0; is_link && links <= MOST_LINKS && directory + strlen(next) < sizeof file->path; links++) {
        strcpy(file->path + directory, next);
        is_link = zt__read_link(file->path, file->link, sizeof file->link) > 0;
        next = file->link;
        directory = zt__is_absolute(next) ? 0 : (size_t)(zt__file_name(file->path) - file->path);
    }
    if (is_link) {
        errno = links > MOST_LINKS ? ELOOP : ENAMETOOLONG;
        result = zt__report_unwritable(output);
        zt__free(output->allocator, file);
        return result;
    }

    name = zt__file_name(file->path);
    /* A long name is cut, because the name of a file has 255 bytes at the most. */
    snprintf(file->beside, sizeof file->beside, "%.*s%.128s.%ld.%lx.part", (int)(name - file->path),
             file->path, name, zt__get_process_id(), (unsigned long)zt__this_thread());
    part = zt__create_file(file->beside, file->path, has_before ? &before : NULL);
    result = zt__write_content(output, part, fclose);
    if (result == ZE_RESULT_SUCCESS && !zt__rename_file(file->beside, file->path)) {
        result = zt__report_unwritable(output);
    }
    if (part && result != ZE_RESULT_SUCCESS) {
        zt__remove_file(file->beside);
    }
    zt__free(output->allocator, file);
    return result;
}

typedef struct zt__report_content {
    const zt_profiler *profiler;
    zt_format format;
} zt__report_content;

static ze_result_t zt__write_report(const void *content, FILE *file) {
    const zt__report_content *report = (const zt__report_content *)content;
    return zt_write(report->profiler, report->format, zt__write_to_file, file);
}

ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__report_content content;
    zt__output output = {"zt_report", path, diagnostics, NULL, zt__write_report, &content};
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!path) {
        return zt__report_null(diagnostics, "zt_report", "path");
    }
    zt__collect_ready(zt__mutable(profiler));
    content.profiler = profiler;
    if (!zt__find_format(path, &content.format)) {
        return zt__report(diagnostics, UNKNOWN_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_report", path);
    }
    output.allocator = &profiler->config.allocator;
    return zt__write_output(&output);
}
