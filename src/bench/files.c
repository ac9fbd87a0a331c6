/* Results of benchmarks as table or CSV, and CSV read back. */

#include "bench/files.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/tables.h"
#include "base/writer.h"
#include "bench/bench.h"
#include "bench/tables.h"
#include "regions/profiler.h"
#include "reports/csv.h"
#include "reports/facts.h"
#include "reports/writing.h"

/* ---- writing results ------------------------------------------------------------------------------------- */

/* Results to be written. */
typedef struct zt__benches {
    const char *call;
    const zt_profiler *profiler;
    const zt_bench_result *results;
    uint32_t count;
    zt_format format; /* a table, or CSV */
} zt__benches;

/* The layout of files of benchmarks, and their columns. The column `layout` is the first one in every
   layout. */
enum { ZT__BENCH_LAYOUT = 1 };

static const char zt__bench_columns[] =
    "layout,results,name,samples,outliers,changed,ended_by,median_ns,low_ns,high_ns,quartile1_ns,"
    "quartile3_ns,min_ns,max_ns,frequency_mhz,bytes_per_second,items_per_second,perturbation,date,device,"
    "driver_version,core_clock_mhz,zetools,decile1_ns,set_aside,bursts,burst_spread\n";

/* Writes results: a table, `room` columns wide, or CSV with a line for each result and the number of all, by
   which a reader notices that some are missing. Returns UNKNOWN, without a message, if `write` stopped it. */
static ze_result_t zt__write_benches(const zt__benches *benches, size_t room, zt_write_fn write, void *user) {
    const zt_profiler *profiler = benches->profiler;
    zt__date date = zt__format_now();
    zt__writer writer;
    uint32_t i, j;
    zt__begin_writing(&writer, write, user);
    if (benches->format == ZT_FORMAT_TABLE) {
        if (benches->count > 0 &&
            !zt__write_bench_table(&writer, profiler, benches->results, benches->count, room)) {
            return zt__report_no_memory(zt__diagnostics_of(profiler), benches->call, "a table");
        }
        return zt__end_writing(&writer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
    }
    zt__write_text(&writer, zt__bench_columns);
    for (i = 0; i < benches->count; i++) {
        const zt_bench_result *result = &benches->results[i];
        const double figures[] = {result->median,
                                  result->low,
                                  result->high,
                                  result->quartile1,
                                  result->quartile3,
                                  result->min,
                                  result->max,
                                  result->frequency_mhz,
                                  result->bytes_per_second,
                                  result->items_per_second,
                                  result->perturbation};
        zt__print(&writer, "%u,%u,", (unsigned)ZT__BENCH_LAYOUT, (unsigned)benches->count);
        zt__write_csv_field(&writer, result->name);
        zt__print(&writer, ",%u,%u,%u,%s", (unsigned)result->count, (unsigned)result->outliers,
                  (unsigned)result->changed, zt__bench_end_name(result->end));
        for (j = 0; j < ZT__COUNT_OF(figures); j++) {
            zt__write_text(&writer, ",");
            zt__write_csv_number(&writer, figures[j]);
        }
        zt__print(&writer, ",%s,", date.text);
        zt__write_csv_field(&writer, profiler ? profiler->device_name : "");
        zt__print(&writer, ",%s,", profiler ? profiler->facts.driver_version : "");
        if (profiler && profiler->facts.core_clock_mhz) {
            zt__print(&writer, "%u", (unsigned)profiler->facts.core_clock_mhz);
        }
        zt__write_text(&writer, "," ZETOOLS_VERSION ",");
        zt__write_csv_number(&writer, result->decile1);
        zt__print(&writer, ",%u,%u,", (unsigned)result->set_aside, (unsigned)result->bursts);
        zt__write_csv_number(&writer, result->burst_spread);
        zt__write_text(&writer, "\n");
    }
    return zt__end_writing(&writer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

static ze_result_t zt__write_benches_to_file(const void *benches, FILE *file) {
    return zt__write_benches((const zt__benches *)benches, zt__get_room(file == stdout), zt__write_to_file,
                             file);
}

ZT_API ze_result_t zt_write_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                    uint32_t count, zt_write_fn write, void *user) {
    zt__benches benches = {"zt_write_benches", profiler, results, count, ZT_FORMAT_TABLE};
    zt__diagnostics *diagnostics = zt__diagnostics_of(profiler);
    ze_result_t result;
    if (!results || !write) {
        return zt__report_null(diagnostics, "zt_write_benches", results ? "write" : "results");
    }
    result = zt__write_benches(&benches, zt__get_room(0), write, user);
    return result == ZE_RESULT_ERROR_UNKNOWN
               ? zt__report(diagnostics, WRITE_STOPPED, result, "zt_write_benches")
               : result;
}

ZT_API ze_result_t zt_report_benches(const zt_profiler *profiler, const zt_bench_result *results,
                                     uint32_t count, const char *path) {
    zt__benches benches = {"zt_report_benches", profiler, results, count, ZT_FORMAT_TABLE};
    zt__output output = {benches.call, path, NULL, NULL, zt__write_benches_to_file, &benches};
    output.diagnostics = zt__diagnostics_of(profiler);
    output.allocator = zt__allocator_of(profiler);
    if (!results || !path) {
        return zt__report_null(output.diagnostics, benches.call, results ? "path" : "results");
    }
    if (!zt__find_format(path, &benches.format) ||
        (benches.format != ZT_FORMAT_TABLE && benches.format != ZT_FORMAT_CSV)) {
        return zt__report(output.diagnostics, BENCH_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, benches.call,
                          path, ".txt or none for a table, or .csv");
    }
    return zt__write_output(&output);
}

/* ---- reading the results of an earlier run ---------------------------------------------------------------- */

/* A line of CSV: the fields of its columns. */
typedef struct zt__csv_record {
    char *fields[64];
    uint32_t count;
} zt__csv_record;

/* Reads the line that begins at `*next`, and moves `*next` behind what was read. Quotes are removed in place.
   Returns 0 if it is no line of CSV, or if the text ends before the line does; in the latter case `*next` is
   at the end of the text. */
static int zt__read_csv_record(char **next, zt__csv_record *record) {
    char *from = *next, *to, end = ',';
    for (record->count = 0; end == ',' && record->count < ZT__COUNT_OF(record->fields); record->count++) {
        record->fields[record->count] = to = from;
        if (*from == '"') {
            from++;
            while (*from && (*from != '"' || *++from == '"')) {
                *to++ = *from++;
            }
        } else {
            from += strcspn(from, ",\r\n");
            to = from;
        }
        from += *from == '\r';
        end = *from;
        *to = 0;
        from += end != 0;
    }
    *next = from;
    return end == '\n';
}

/* Returns the field of a column, or "" if there is no such column. */
static const char *zt__find_field(const zt__csv_record *header, const zt__csv_record *record,
                                  const char *column) {
    uint32_t i;
    for (i = 0; i < header->count; i++) {
        if (strcmp(header->fields[i], column) == 0) {
            return record->fields[i];
        }
    }
    return "";
}

/* Returns the number in a field, or NaN. */
static double zt__number_of(const char *field) {
    double number;
    return zt__read_number(&field, &number) && !*field ? number : zt__nan();
}

/* Adds the benchmark of a line to those of a file. Returns 0 if the line is damaged. */
static int zt__read_earlier_bench(zt__bench_file *file, const zt__csv_record *header,
                                  const zt__csv_record *record) {
    zt__earlier_bench *bench = &file->benches[file->count];
    const char *median = zt__find_field(header, record, "median_ns");
    bench->name = zt__find_field(header, record, "name");
    bench->median = zt__number_of(median);
    bench->low = zt__number_of(zt__find_field(header, record, "low_ns"));
    bench->high = zt__number_of(zt__find_field(header, record, "high_ns"));
    bench->decile1 = zt__number_of(zt__find_field(header, record, "decile1_ns"));
    bench->mhz = zt__number_of(zt__find_field(header, record, "frequency_mhz"));
    if (file->count++ == 0) {
        file->date = zt__find_field(header, record, "date");
        file->device = zt__find_field(header, record, "device");
        file->driver_version = zt__find_field(header, record, "driver_version");
        file->core_clock_mhz = zt__find_field(header, record, "core_clock_mhz");
    }
    if (!*median) {
        return 1; /* it was not measured */
    }
    return !zt__is_nan(bench->median) && !zt__is_nan(bench->low) && !zt__is_nan(bench->high) &&
           bench->low <= bench->median && bench->median <= bench->high;
}

ZT__PRIVATE ze_result_t zt__read_bench_file(zt__bench_file *file) {
    enum { MOST_BYTES = 1 << 26 };
    static const char *const needed[] = {"results", "name", "median_ns", "low_ns", "high_ns"};
    static const char *const foreign = "is no file of benchmarks";
    zt__csv_record header, record;
    char *next, damage[64];
    const char *why = NULL;
    ze_result_t result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    size_t size, lines = 1;
    uint32_t i, line;
    int lacks_columns = 0;
    double results = 0;
    file->text = zt__read_file(file->allocator, file->path, MOST_BYTES, &size, &why);
    if (why) {
        return zt__report(file->diagnostics, CANNOT_READ, ZE_RESULT_ERROR_UNKNOWN, file->path, why);
    }
    for (next = file->text; next && (next = strchr(next, '\n')) != NULL; next++) {
        lines++;
    }
    if (file->text) {
        file->benches = (zt__earlier_bench *)zt__allocate(file->allocator, lines, sizeof *file->benches);
    }
    if (!file->benches) {
        return zt__report_no_memory(file->diagnostics, "zt_compare_benches", "a file");
    }

    next = file->text;
    if (!zt__read_csv_record(&next, &header) || strcmp(header.fields[0], "layout") != 0) {
        why = foreign;
    }
    for (i = 0; i < ZT__COUNT_OF(needed); i++) {
        lacks_columns |= !*zt__find_field(&header, &header, needed[i]);
    }
    for (line = 2; *next && !why; line++) {
        int is_whole = zt__read_csv_record(&next, &record);
        double layout = zt__number_of(record.fields[0]);
        if (is_whole && !zt__is_nan(layout) && layout > (int)ZT__BENCH_LAYOUT) {
            return zt__report(file->diagnostics, NEWER_BENCHES, ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
                              file->path, record.fields[0], (unsigned)ZT__BENCH_LAYOUT);
        }
        if (lacks_columns) {
            why = foreign;
        } else if (is_whole || *next) { /* else the line is cut off */
            results = zt__nan();
            if (is_whole && !zt__is_nan(layout) && record.count == header.count &&
                zt__read_earlier_bench(file, &header, &record)) {
                results = zt__number_of(zt__find_field(&header, &record, "results"));
            }
            if (zt__is_nan(results) || file->count > results) {
                snprintf(damage, sizeof damage, "is damaged in line %u", (unsigned)line);
                why = damage;
            }
        }
    }
    if (!why && (file->count == 0 || file->count < results)) {
        why = "is cut off";
        result = ZE_RESULT_ERROR_INVALID_SIZE;
    }
    return why ? zt__report(file->diagnostics, BAD_BENCHES, result, file->path, why) : ZE_RESULT_SUCCESS;
}
