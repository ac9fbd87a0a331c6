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
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/csv.h"
#include "reports/facts.h"
#include "reports/folded.h"
#include "reports/joining.h"
#include "reports/json.h"
#include "reports/openmetrics.h"
#include "reports/page.h"
#include "reports/table.h"
#include "reports/trace.h"
#include "results/overlap.h"
#include "results/packing.h"
#include "results/phase_times.h"
#include "results/results.h"
#include "streams/power.h"
#include "tracer/hotspot_lines.h"

/* Adds the shares of regions to those of the phases around them. With the mutex held. */
static void zt__add_shares_of_phases(zt__document *document) {
    uint32_t i;
    for (i = 0; i < document->path_count && document->has_phases; i++) {
        const zt__path *path = zt__path_at(document->profiler, i), *outer;
        double share = document->paths[i].share;
        for (outer = path->key.outer; !document->paths[i].is_phase && outer->depth > 0;
             outer = outer->key.outer) {
            if (outer->key.region->is_phase) {
                document->paths[outer->index].share += share;
                document->regions[outer->key.region->index].share += outer->is_repeated ? 0 : share;
            }
        }
    }
}

/* Reads where all regions and paths are and, for reports with shares, which ran at once. Returns 0 without memory. */
static int zt__read_nesting(zt__document *document, int has_shares) {
    zt_profiler *profiler = document->profiler;
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__coverage *coverage = &document->coverage;
    zt_region_info info;
    double whole_ns;
    uint32_t i;
    document->path_count = zt__get_path_count(profiler); /* first, so that their regions are counted, too */
    document->region_count = zt__get_region_count(profiler);
    document->regions =
        (zt__nesting *)zt__allocate(allocator, (size_t)document->region_count + 1, sizeof *document->regions);
    document->paths =
        (zt__nesting *)zt__allocate(allocator, (size_t)document->path_count + 1, sizeof *document->paths);
    if (!document->regions || !document->paths) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    for (i = 0; i < document->path_count; i++) {
        zt__nesting *nesting = &document->paths[i];
        const zt__path *path = zt__path_at(profiler, i);
        nesting->index = ZT_PATH(i);
        nesting->path = i;
        nesting->region = path->key.region->index;
        nesting->parent = path->depth > 1 ? path->key.outer->index : UINT32_MAX;
        nesting->total_ns = zt__time_of(path);
        nesting->own_ns = zt__get_own_time(path, &nesting->share);
        nesting->is_phase = path->key.region->is_phase;
        document->has_phases |= nesting->is_phase;
        document->regions[nesting->region].path = i;
        document->regions[nesting->region].paths++;
        document->regions[nesting->region].share += nesting->share;
        document->gpu_time_ns += nesting->share;
        document->is_nested |= path->depth > 1;
    }
    zt__add_shares_of_phases(document);
    for (i = 0; i < document->region_count; i++) {
        zt__nesting *nesting = &document->regions[i];
        zt__subject subject = {profiler->regions[i], NULL};
        zt__get_times(profiler, subject, &info);
        nesting->index = nesting->region = i;
        nesting->is_phase = subject.region->is_phase;
        nesting->path = nesting->paths ? nesting->path : UINT32_MAX;
        /* A region without samples may since have begun inside one that is newer than the report. */
        nesting->parent = info.parent < document->region_count ? info.parent : UINT32_MAX;
        nesting->own_ns = info.own_ns;
        nesting->total_ns = info.total_ns;
    }
    zt__unlock(&profiler->mutex);
    if (has_shares) {
        document->at_once = (zt__at_once *)zt__allocate(allocator, (size_t)document->path_count + 1,
                                                        sizeof *document->at_once);
        if (!document->at_once ||
            !zt__measure_coverage(profiler, coverage, document->at_once, document->path_count)) {
            return 0;
        }
    }
    document->busy_ns = has_shares && coverage->outermost_ns > 0
                            ? document->gpu_time_ns * (coverage->covered_ns / coverage->outermost_ns)
                            : zt__nan();
    whole_ns = zt__is_nan(document->busy_ns) ? document->gpu_time_ns : document->busy_ns;
    for (i = 0; i < document->path_count + document->region_count; i++) {
        zt__nesting *nesting =
            i < document->path_count ? &document->paths[i] : &document->regions[i - document->path_count];
        nesting->share = whole_ns > 0 ? nesting->share / whole_ns : zt__nan();
    }
    return 1;
}

/* zt_write, and, with `is_perfetto`, a trace in the format that has no zt_format. */
static ze_result_t zt__write_as(const zt_profiler *profiler, zt_format format, int is_perfetto,
                                zt_write_fn write, void *user) {
    static void (*const writers[])(zt__document *) = {
        zt__write_region_table, zt__write_csv,         zt__write_json,      zt__write_trace,
        zt__write_html,         zt__write_openmetrics, zt__write_instances, zt__write_folded}; /* by format */
    const char *call = write == zt__write_to_file ? "zt_report" : "zt_write";
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt_profiler *locked;
    const zt_allocator *allocator;
    zt__document *document;
    uint32_t size;
    int stopped, reason, is_of_samples = format == ZT_FORMAT_TRACE || format == ZT_FORMAT_INSTANCES;
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
    if (is_of_samples && !profiler->config.timeline) {
        return zt__report(diagnostics, NO_KEPT_SAMPLES, ZE_RESULT_ERROR_INVALID_ARGUMENT, call);
    }
    if (format == ZT_FORMAT_HTML && !zt__get_page(&size)) {
        return zt__report(diagnostics, NO_PAGE, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call);
    }
    locked = zt__join_profilers(zt__mutable(profiler), call, &result);
    if (!locked) {
        return result;
    }
    zt__finish_power(locked);
    allocator = &profiler->config.allocator;
    document = (zt__document *)zt__allocate(allocator, 1, sizeof *document);
    if (!document) {
        zt__free_joined(locked);
        return zt__report_no_memory(diagnostics, call, "a report");
    }
    document->profiler = locked;
    document->is_perfetto = is_perfetto;
    document->room = zt__get_room(write == zt__write_to_file && user == stdout);
    document->most_rows = zt__get_most_rows();
    zt__begin_writing(&document->writer, write, user);
    document->stats =
        (zt_stats *)zt__allocate(allocator, locked->layout.column_count, sizeof *document->stats);
    document->out_of_memory =
        !document->stats || !zt__read_nesting(document, !is_of_samples && format != ZT_FORMAT_OPENMETRICS);
    if (document->has_phases && !is_of_samples) {
        document->out_of_memory |= !zt__measure_busy_phases(locked, &document->busy_phases);
    }
#ifdef ZETOOLS_TRACER
    if (!is_of_samples && format != ZT_FORMAT_OPENMETRICS && !locked->joined) {
        zt__find_hotspot_lines(locked, call, 0);
    }
#endif
    if (!document->out_of_memory) {
        writers[format](document);
    }
    stopped = !zt__end_writing(&document->writer);
    reason = errno;
    if (document->out_of_memory) {
        result = zt__report_no_memory(diagnostics, call, "a report");
    } else if (stopped && write == zt__write_to_file) {
        result = ZE_RESULT_ERROR_UNKNOWN; /* zt_report reports why, by errno */
    } else if (stopped) {
        result = zt__report(diagnostics, WRITE_STOPPED, ZE_RESULT_ERROR_UNKNOWN, "zt_write");
    }
    zt__free(allocator, document->regions);
    zt__free(allocator, document->paths);
    zt__free(allocator, document->at_once);
    zt__free(allocator, document->busy_phases.paths);
    zt__free(allocator, document->stats);
    zt__free(allocator, document);
    zt__free_joined(locked);
    errno = reason; /* which the allocator may have changed */
    return result;
}

ZT_API ze_result_t zt_write(const zt_profiler *profiler, zt_format format, zt_write_fn write, void *user) {
    return zt__write_as(profiler, format, 0, write, user);
}

/* ---- files ----------------------------------------------------------------------------------------------- */

/* Reports that a file cannot be written, for the reason in errno, if that is the result. Returns the result. */
static ze_result_t zt__check_written(const zt__output *output, ze_result_t result) {
    if (result == ZE_RESULT_ERROR_UNKNOWN) {
        zt__report(output->diagnostics, CANNOT_WRITE, result, output->call, output->path,
                   strerror(errno ? errno : EIO)); /* not all streams tell the reason */
    }
    return result;
}

/* The file that a report goes to, and what a link contains. */
typedef struct zt__target_file {
    char path[4096];
    char link[4096];
} zt__target_file;

/* Follows symbolic links. What they lead to need not exist. Returns 0 if that fails; errno is the reason. */
static int zt__follow_links(const char *path, zt__target_file *file) {
    enum { MOST_LINKS = 40 };
    const char *next = path;
    size_t directory = 0; /* length of the directory that `next` is relative to */
    uint32_t links;
    int is_link = 1;
    for (links = 0; is_link && links <= MOST_LINKS && directory + strlen(next) < sizeof file->path; links++) {
        strcpy(file->path + directory, next);
        is_link = zt__read_link(file->path, file->link, sizeof file->link) > 0;
        next = file->link;
        directory = zt__is_absolute(next) ? 0 : (size_t)(zt__file_name(file->path) - file->path);
    }
    errno = links > MOST_LINKS ? ELOOP : ENAMETOOLONG;
    return !is_link;
}

ZT__PRIVATE ze_result_t zt__write_output(const zt__output *output) {
    FILE *stream = zt__find_standard_stream(output->path);
    zt__file_properties before;
    zt__target_file *file;
    ze_result_t result;
    if (stream) {
        return zt__check_written(output,
                                 zt__write_content(stream, fflush, output->write_content, output->content));
    }
    if (!zt__get_file_properties(output->path, &before)) {
        if (errno != ENOENT) { /* a file that may be there, whose permissions are not known */
            return zt__check_written(output, ZE_RESULT_ERROR_UNKNOWN);
        }
    } else if (!before.is_regular && !before.is_directory) {
        return zt__check_written(output, zt__write_content(zt__open_file(output->path, ZT__TO_WRITE), fclose,
                                                           output->write_content, output->content));
    }
    file = (zt__target_file *)zt__allocate(output->allocator, 1, sizeof *file);
    if (!file) {
        return zt__report_no_memory(output->diagnostics, output->call, "a path");
    }
    result = zt__follow_links(output->path, file)
                 ? zt__replace_file(file->path, output->write_content, output->content)
                 : ZE_RESULT_ERROR_UNKNOWN;
    zt__check_written(output, result);
    zt__free(output->allocator, file);
    return result;
}

typedef struct zt__report_content {
    const zt_profiler *profiler;
    zt_format format;
    int is_perfetto;
} zt__report_content;

static ze_result_t zt__write_report(const void *content, FILE *file) {
    const zt__report_content *report = (const zt__report_content *)content;
    return zt__write_as(report->profiler, report->format, report->is_perfetto, zt__write_to_file, file);
}

/* Writes what zt_pack packs. */
static ze_result_t zt__write_packed(const void *content, FILE *file) {
    zt_profiler *profiler = zt__mutable(((const zt__report_content *)content)->profiler), *shown;
    ze_result_t result;
    uint8_t *bytes;
    size_t size;
    int reason;
    zt__finish_power(profiler);
    shown = zt__join_profilers(profiler, "zt_report", &result);
    if (!shown) {
        return result;
    }
    result = zt__pack(shown, "zt_report", &bytes, &size);
    if (result == ZE_RESULT_SUCCESS && zt__write_to_file(bytes, size, file) != 0) {
        result = ZE_RESULT_ERROR_UNKNOWN;
    }
    reason = errno;
    zt__free(&profiler->config.allocator, bytes);
    zt__free_joined(shown);
    errno = reason; /* which the allocator may have changed */
    return result;
}

ZT_API ze_result_t zt_report(const zt_profiler *profiler, const char *path) {
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    zt__report_content content;
    const zt__suffix *suffix;
    zt__output output = {"zt_report", path, diagnostics, NULL, zt__write_report, &content};
    if (!profiler) {
        return ZE_RESULT_SUCCESS;
    }
    if (!path) {
        return zt__report_null(diagnostics, "zt_report", "path");
    }
    zt__collect_reported(zt__mutable(profiler));
    content.profiler = profiler;
    if (!zt__find_format(path, &content.format)) {
        return zt__report(diagnostics, UNKNOWN_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, "zt_report", path);
    }
    suffix = zt__find_suffix(path);
    content.is_perfetto = suffix && suffix->kind == ZT__OF_PERFETTO;
    if (suffix && suffix->kind == ZT__OF_PACK) {
        output.write_content = zt__write_packed;
    }
    output.allocator = &profiler->config.allocator;
    return zt__write_output(&output);
}
