/* Reports and settings that the environment requests: ZT_REPORT, ZT_PEAKS. */

#include "open/requests.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/text.h"
#include "regions/configuration.h"
#include "regions/profiler.h"

/* Prints the last message of a profiler, unless its log function prints it. */
static void zt__print_error(const zt_profiler *profiler) {
    if (profiler->diagnostics.log != zt__log_to_stderr) {
        zt__print_message("%s", zt__get_last_error(zt__diagnostics_of(profiler)));
    }
}

ZT__PRIVATE int zt__shows_timeline(const char *list) {
    zt__file_path path;
    while (list && zt__next_path(&list, &path)) {
        const zt__suffix *suffix = zt__find_suffix(path.text);
        if (suffix && suffix->shows_timeline) {
            return 1;
        }
    }
    return 0;
}

ZT__PRIVATE ze_result_t zt__check_reports(zt__diagnostics *diagnostics, const char *call, const char *list) {
    zt__file_path path;
    zt_format format;
    while (zt__next_path(&list, &path)) {
        if (!zt__find_standard_stream(path.text) && !zt__find_format(path.text, &format)) {
            return zt__report(diagnostics, UNKNOWN_SUFFIX, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, path.text);
        }
    }
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE void zt__write_reports(zt_profiler *profiler, const char *list, uint32_t n, int names_files) {
    zt_log_fn log = profiler->diagnostics.log;
    zt__file_path path;
    int has_failed = 0;
    if (log == zt__log_to_stderr) {
        profiler->diagnostics.log = NULL; /* it would print the first message of a kind as well */
    }
    while (zt__next_path(&list, &path)) {
        ze_result_t result;
        zt__number_path(&path, n);
        result = zt_report(profiler, path.text);
        if (result != ZE_RESULT_SUCCESS) {
            zt__keep_error(&profiler->diagnostics, result);
            zt__print_error(profiler);
            has_failed = 1;
        } else if (names_files && zt__is_file(path.text)) {
            zt__print_message("wrote %s", path.text);
        }
    }
    profiler->diagnostics.log = log;
    if (has_failed) {
        zt_write(profiler, ZT_FORMAT_TABLE, zt__write_to_file, stderr);
    }
}

/* Reports a variable whose value is wrong. This is also printed, because those who have set it may not see
   the messages of the program. */
static void zt__report_variable(zt_profiler *profiler, const char *name, const char *value,
                                const char *expected) {
    zt__report(&profiler->diagnostics, BAD_VARIABLE, ZE_RESULT_ERROR_INVALID_ARGUMENT, name, value, expected);
    zt__print_error(profiler);
}

ZT__PRIVATE void zt__read_environment(zt_profiler *profiler) {
    const char *list = zt__get_variable("ZT_REPORT"), *log = zt__get_variable("ZT_LOG"),
               *timeline = zt__get_variable("ZT_TIMELINE"), *phases_at = zt__get_variable("ZT_PHASES_AT");
    const char *text = zt__get_variable("ZT_PEAKS"), *rest = text;
    zt__peaks *peaks = &profiler->peaks;
    if (log && !zt__is_off(log) && strcmp(log, "stderr") != 0) {
        zt__report_variable(profiler, "ZT_LOG", log, "'stderr'");
    }
    if (timeline && *timeline && !zt__is_uint32(timeline)) {
        zt__report_variable(profiler, "ZT_TIMELINE", timeline, "a number of samples");
    }
    if (phases_at && *phases_at && !zt__is_phases_at(phases_at)) {
        zt__report_variable(profiler, "ZT_PHASES_AT", phases_at, "'append' or 'submit'");
    }
    if (text && *text) {
        int is_valid = zt__read_number(&rest, &peaks->bytes);
        if (is_valid && *rest == ',') {
            rest++;
            is_valid = zt__read_number(&rest, &peaks->operations);
        }
        if (is_valid && !*rest) {
            strcpy(peaks->source, "given by ZT_PEAKS");
            profiler->peaks_are_overridden = 1;
        } else {
            peaks->bytes = peaks->operations = 0;
            zt__report_variable(profiler, "ZT_PEAKS", text,
                                "bytes and operations a second, such as '456e9,14.6e12'");
        }
    }
    if (zt__is_off(list)) {
        return;
    }
    /* The block of the process is there, because the profiler is registered in it. */
    profiler->report_number = zt__add(&zt__get_process()->reporting, 1);
    profiler->reports = zt__duplicate_text(&profiler->config.allocator, list);
    if (!profiler->reports) {
        zt__report_no_memory(&profiler->diagnostics, "zt_open", "the paths of reports");
        zt__print_error(profiler);
    } else if (zt__check_reports(&profiler->diagnostics, "zt_open", list) != ZE_RESULT_SUCCESS) {
        zt__print_error(profiler);
    }
}
