/* Which regions run too long, and the report of a hang. */

#include "watch/hangs.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/writer.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/writing.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* ---- regions that run ------------------------------------------------------------------------------------ */

/* Queries whether the device has finished a region. If the call fails, it has not. A launch whose event cannot be
   read any more counts as finished, so that it is not watched. */
static int zt__has_ended(zt_profiler *profiler, const zt__running *region) {
    const char *call;
    ze_result_t result;
    ZT__INTERNAL(result = region->way->read(profiler, region->probe, 0, NULL, &call));
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
}

ZT__PRIVATE int zt__find_running(zt_profiler *profiler, ze_command_list_handle_t handle,
                                 zt__running *running) {
    zt__running pending[ZT__BATCH];
    zt__list *list;
    uint32_t i, count, first; /* `first`: index of the first that has not ended */
    do {
        const zt__recording *recording;
        zt__probe *probe;
        uint64_t now;
        count = 0;

        /* Copy what is on its way and was not seen to have ended, up to a batch. */
        zt__lock(&profiler->mutex);
        list = zt__find_list(profiler, handle);
        recording = list ? list->current : NULL;
        for (probe = recording && recording->due && recording->state != ZT__RECORDING_READING &&
                             recording->state != ZT__RECORDING_OPEN
                         ? recording->first
                         : NULL;
             probe && count < ZT__BATCH; probe = probe->next) {
            zt__running *copy = &pending[count];
            copy->submission_ns = recording->is_queue ? probe->begun_ns : recording->submitted_ns;
            if (probe->is_due &&
                (probe->number > list->watched_ended_up_to || copy->submission_ns > list->watched_ended_ns)) {
                copy->region = probe->region;
                copy->list = handle;
                copy->number = probe->number;
                copy->probe = probe;
                copy->way = probe->way;
                count++;
            }
        }
        zt__unlock(&profiler->mutex);
        if (count == 0) {
            return 0;
        }

        /* Record which have ended, and since when the next one is the first. */
        first = 0;
        while (first < count && zt__has_ended(profiler, &pending[first])) {
            first++;
        }
        now = zt__now_ns();
        zt__lock(&profiler->mutex);
        list = zt__find_list(profiler, handle);
        for (i = 0; list && i < first; i++) {
            list->watched_ended_up_to = pending[i].number;
            if (list->watched_ended_ns < pending[i].submission_ns) {
                list->watched_ended_ns = pending[i].submission_ns;
            }
        }
        if (list && first < count) {
            zt__running *unfinished = &pending[first];
            if (list->watched_number != unfinished->number ||
                list->watched_submission_ns != unfinished->submission_ns) {
                list->watched_number = unfinished->number;
                list->watched_submission_ns = unfinished->submission_ns;
                list->watched_since_ns = now;
            }
            unfinished->since_ns = list->watched_since_ns;
        }
        zt__unlock(&profiler->mutex);
    } while (first == count && count == ZT__BATCH);
    if (!list || first == count) { /* the list was released meanwhile, or all have signalled */
        return 0;
    }
    *running = pending[first];
    return 1;
}

ZT__PRIVATE int zt__still_runs(zt__watch *watch, const zt__running *running) {
    zt__running now;
    return zt__find_running(watch->profiler, running->list, &now) && now.number == running->number &&
           now.submission_ns == running->submission_ns;
}

ZT__PRIVATE int zt__has_hung(const zt__watch *watch, const zt__running *running, uint64_t now) {
    return now > running->since_ns && now - running->since_ns >= watch->config.hang_ns;
}

/* ---- reports --------------------------------------------------------------------------------------------- */

static ze_result_t zt__write_hang_text(const void *text, FILE *file) {
    return zt__write_to_file(text, strlen((const char *)text), file) == 0 ? ZE_RESULT_SUCCESS
                                                                          : ZE_RESULT_ERROR_UNKNOWN;
}

/* Writes what hangs: a sentence. */
static void zt__describe_hang(const zt_hang *hang, char *text, size_t room) {
    char *demangled;
    text[0] = 0;
    zt__append(text, room, "'%.256s' has run for ", zt__show_name(hang->region, &demangled));
    free(demangled);
    zt__append_number(text, room, (double)hang->running_ns / 1e9);
    zt__append(text, room, " s, and has not ended.");
}

/* Writes the report into `watch->text`, and into the file. `*path` receives the name of the file; "" if there
   is none. */
static void zt__write_hang(zt__watch *watch, const zt_hang *hang, uint32_t running_count,
                           zt__file_path *path) {
    static uint32_t count; /* of files of all watches. Atomic */
    zt_profiler *profiler = watch->profiler;
    char *text = watch->text, sentence[400];
    const size_t room = sizeof watch->text;
    zt__date date = zt__format_now();
    uint64_t now = zt__now_ns();
    zt__output output;
    uint32_t i, shown = running_count < ZT__SHOWN_LISTS ? running_count : (uint32_t)ZT__SHOWN_LISTS;
    zt__describe_hang(hang, sentence, sizeof sentence);
    text[0] = 0;
    zt__append(text, room, "%s\n", sentence);
    if (hang->others) {
        zt__append(text, room, "Regions run on %u other list%s, or wait to run there.\n",
                   (unsigned)hang->others, hang->others == 1 ? "" : "s");
    }
    zt__append(text, room, "\ndevice    %s\nprogram   %s\nprocess   %ld\ndate      %s\n",
               profiler->device_name, profiler->facts.program, zt__get_process_id(), date.text);
    zt__append(text, room,
               "\nSubmitted, and not ended: the first region of each list\n"
               "submitted  first since  list                region\n");
    for (i = 0; i < shown; i++) {
        const zt__running *running = &watch->running[i];
        char *demangled;
        zt__append(text, room, "%7.2f s  %9.2f s  %-18p  %.256s\n",
                   (double)(now - running->submission_ns) / 1e9, (double)(now - running->since_ns) / 1e9,
                   (void *)running->list, zt__show_name(running->region->name, &demangled));
        free(demangled);
    }
    if (shown < running_count) {
        zt__append(text, room, "and %u more\n", (unsigned)(running_count - shown));
    }
    zt__append(text, room,
               "\nTo see where its threads are, and their registers, call zt_debug_open in another\n"
               "program, with the number of this process.\n");

    path->text[0] = 0;
    if (!watch->path) {
        return;
    }
    *path = zt__expand_path(watch->path, strlen(watch->path));
    zt__number_path(path, zt__add(&count, 1));
    memset(&output, 0, sizeof output);
    output.call = "zt_watch";
    output.path = path->text;
    output.diagnostics = &profiler->diagnostics;
    output.allocator = &profiler->config.allocator;
    output.write_content = zt__write_hang_text;
    output.content = text;
    if (zt__write_output(&output) != ZE_RESULT_SUCCESS) {
        path->text[0] = 0;
    }
}

ZT__PRIVATE void zt__report_hang(zt__watch *watch, const zt__running *running, uint32_t running_count) {
    zt_profiler *profiler = watch->profiler;
    zt__log_call call;
    zt_hang hang;
    zt__file_path path;
    char text[900];
    memset(&hang, 0, sizeof hang);
    hang.region = running->region->name;
    hang.running_ns = zt__now_ns() - running->since_ns;
    hang.others = running_count - 1;
    zt__write_hang(watch, &hang, running_count, &path);
    hang.text = watch->text;

    zt__describe_hang(&hang, text, sizeof text);
    if (*path.text) {
        zt__append(text, sizeof text, " The report is in %.256s.", path.text);
    }
    zt__append(text, sizeof text,
               " To see where its threads are, call zt_debug_open in another program, with process %ld.",
               zt__get_process_id());
    zt__lock(&profiler->mutex);
    watch->info.hangs++;
    memset(profiler->diagnostics.logged[ZT__HANG], 0,
           sizeof profiler->diagnostics.logged[ZT__HANG]); /* each one is logged */
    zt__unlock(&profiler->mutex);
    zt__report(&profiler->diagnostics, HANG, ZE_RESULT_NOT_READY, text);
    if (watch->config.function) {
        call.diagnostics = &profiler->diagnostics; /* it must not call what a log function must not */
        call.outer = zt__log_calls;
        zt__log_calls = &call;
        watch->config.function(&hang, watch->config.user);
        zt__log_calls = call.outer;
    }
}

#endif
