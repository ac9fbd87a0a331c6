/* Which regions run too long, and the report of a hang. */

#include "watch/hangs.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/paths.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/writer.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "reports/facts.h"
#include "reports/writing.h"
#include "watch/client.h"
#include "watch/server.h"
#include "watch/watch.h"

#ifdef ZETOOLS_DEBUG

/* ---- regions that run ------------------------------------------------------------------------------------ */

/* Queries whether the device has finished a region. If the call fails, it has not. A launch whose event cannot be
   read any more counts as finished, so that it is not watched. */
static int zt__has_ended(zt_profiler *profiler, const zt__running *region) {
    const char *call;
    ze_result_t result;
    ZT__INTERNAL(result = region->way->read(profiler, region->probe, NULL, &call));
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
                copy->region = probe->path->key.region;
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

static const char *zt__debugged_by_name(zt_debugged_by by) {
    static const char *const names[] = {"nobody", "the process itself", "a helper process"};
    return names[by];
}

/* Writes what has faulted, and which region hangs or was running: a sentence each. */
static void zt__describe_hang(const zt_hang *hang, char *text, size_t room) {
    text[0] = 0;
    if (hang->is_fault) {
        zt__append(text, room, "The device has reported a fault: %s", hang->fault);
        if (hang->fault_address) {
            zt__append(text, room, " (0x%llx)", (unsigned long long)hang->fault_address);
        }
        zt__append(text, room, ".%s", *hang->region ? " " : "");
    }
    if (*hang->region) {
        zt__append(text, room, "'%.256s' %s ", hang->region,
                   hang->is_fault ? "was running, for" : "has run for");
        zt__append_number(text, room, (double)hang->running_ns / 1e9);
        zt__append(text, room, " s%s.",
                   hang->is_fault    ? ""
                   : hang->has_ended ? ", and ended while threads were being stopped"
                                     : ", and has not ended");
    }
}

/* Appends where threads were, as "solve+0x40", or as an address if the kernel is not known. */
static void zt__describe_place(const zt_hang_place *place, char *text, size_t room) {
    if (*place->kernel) {
        zt__append(text, room, "%.128s+0x%llx", place->kernel, (unsigned long long)place->offset);
    } else {
        zt__append(text, room, "0x%llx", (unsigned long long)place->address);
    }
}

static ze_result_t zt__write_hang_text(const void *text, FILE *file) {
    return zt__write_to_file(text, strlen((const char *)text), file) == 0 ? ZE_RESULT_SUCCESS
                                                                          : ZE_RESULT_ERROR_UNKNOWN;
}

/* Writes the report into `watch->text`, and into the file. `*path` receives the name of the file; "" if there
   is none. */
static void zt__write_hang(zt__watch *watch, const zt_hang *hang, zt__file_path *path) {
    static uint32_t count; /* of files of all watches. Atomic */
    zt_profiler *profiler = watch->profiler;
    char *text = watch->text, sentence[700];
    const size_t room = sizeof watch->text;
    zt__date now = zt__format_now();
    zt__output output;
    uint32_t i;
    zt__describe_hang(hang, sentence, sizeof sentence);
    text[0] = 0;
    zt__append(text, room, "%s\n", sentence);
    if (hang->others) {
        zt__append(text, room, "On %u other lists regions run, or wait for it.\n", (unsigned)hang->others);
    }
    zt__append(text, room, "\ndevice       %s\nprogram      %s\ndate         %s\ndebugged by  %s\n",
               profiler->device_name, profiler->facts.program, now.text,
               zt__debugged_by_name(hang->debugged_by));
    if (*hang->reason) {
        zt__append(text, room, "             %s\n", hang->reason);
    }
    if (hang->debugged_by != ZT_DEBUGGED_BY_NOBODY) {
        zt__append(text, room, "threads      %u stopped, %u idle or could not be stopped. %s\n",
                   (unsigned)hang->stopped, (unsigned)hang->unstopped,
                   hang->is_left_stopped ? "They are left stopped" : "The work was resumed");
        zt__append(text, room, "stopped for  ");
        zt__append_number(text, room, (double)watch->answer.stopped_ns / 1e6);
        zt__append(text, room, " ms\n");
        zt__append(text, room, "\nthreads  where\n");
    }
    for (i = 0; i < hang->place_count; i++) {
        const zt_hang_place *place = &hang->places[i];
        zt__append(text, room, "%7u  ", (unsigned)place->threads);
        zt__describe_place(place, text, room);
        if (place->line) {
            zt__append(text, room, "  %s:%u", place->file, (unsigned)place->line);
        }
        zt__append(text, room, "\n");
    }
    if (hang->threads_elsewhere) {
        zt__append(text, room, "%7u  elsewhere\n", (unsigned)hang->threads_elsewhere);
    }

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

/* Writes the message for the log: the first places alone. */
static void zt__log_hang(zt__watch *watch, const zt_hang *hang, const char *path) {
    enum { SHOWN = 3 };
    zt__diagnostics *diagnostics = &watch->profiler->diagnostics;
    char text[900];
    uint32_t i;
    zt__describe_hang(hang, text, sizeof text);
    if (hang->debugged_by == ZT_DEBUGGED_BY_NOBODY) {
        zt__append(text, sizeof text, " Where is not known: %.300s ", hang->reason);
    } else {
        zt__append(text, sizeof text, " %u threads were stopped by %s", (unsigned)hang->stopped,
                   zt__debugged_by_name(hang->debugged_by));
    }
    for (i = 0; i < hang->place_count && i < SHOWN; i++) {
        const zt_hang_place *place = &hang->places[i];
        zt__append(text, sizeof text, "%s%u in ", i ? ", " : ": ", (unsigned)place->threads);
        zt__describe_place(place, text, sizeof text);
        if (place->line) {
            zt__append(text, sizeof text, " (%.128s:%u)", place->file, (unsigned)place->line);
        }
    }
    if (hang->debugged_by != ZT_DEBUGGED_BY_NOBODY) {
        zt__append(text, sizeof text, "%s. ", hang->place_count > SHOWN ? " and elsewhere" : "");
    }
    zt__append(text, sizeof text, "%s", hang->is_left_stopped ? "They are left stopped. " : "");
    if (*path) {
        zt__append(text, sizeof text, "The report is in %.256s.", path);
    }
    zt__lock(&watch->profiler->mutex);
    diagnostics->logged[ZT__HANG] = 0; /* each one is logged */
    zt__unlock(&watch->profiler->mutex);
    zt__report(diagnostics, HANG, ZE_RESULT_NOT_READY, text);
}

ZT__PRIVATE void zt__report_hang(zt__watch *watch, const zt__running *running, uint32_t others) {
    enum { STOP_S = 5, ANSWER_S = 20 };
    zt_profiler *profiler = watch->profiler;
    const zt__watch_answer *answer = &watch->answer;
    zt__watch_request request;
    zt__log_call call;
    zt_hang hang;
    zt__file_path path;
    char reason[512];
    uint32_t i;
    memset(&hang, 0, sizeof hang);
    hang.is_fault = answer->has_faulted;
    hang.fault_address = answer->fault_address;
    hang.fault = "";
    if (answer->has_page_fault) {
        hang.fault = answer->fault_reason == ZET_DEBUG_PAGE_FAULT_REASON_MAPPING_ERROR
                         ? "page fault: nothing is mapped there"
                     : answer->fault_reason == ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR
                         ? "page fault: the access is not permitted"
                         : "page fault";
    } else if (answer->has_faulted) {
        hang.fault = "threads stopped by themselves, as at an exception or a breakpoint";
    }
    hang.region = running ? running->region->name : "";
    hang.running_ns = running ? zt__now_ns() - running->since_ns : 0;
    hang.others = others;
    hang.places = watch->places;

    /* Stop the threads of the device, and find where they are. A process that could not be debugged before
       may be by now. */
    zt__store(&watch->is_explaining, 1);
    if (watch->info.debugged_by == ZT_DEBUGGED_BY_NOBODY) {
        zt__begin_debugging(watch);
    }
    hang.debugged_by = watch->info.debugged_by;
    snprintf(reason, sizeof reason, "%s", watch->info.reason);
    hang.reason = reason;
    memset(&request, 0, sizeof request);
    request.call = ZT__WATCH_STOP;
    request.timeout_ns = STOP_S * UINT64_C(1000000000);
    request.is_fault = hang.is_fault;
    request.leave_stopped = watch->config.leave_stopped;
    if (hang.debugged_by != ZT_DEBUGGED_BY_NOBODY &&
        !zt__request_answer(watch, &request, ANSWER_S * UINT64_C(1000000000))) {
        hang.debugged_by = ZT_DEBUGGED_BY_NOBODY;
        snprintf(reason, sizeof reason, "%s",
                 zt__is_ending(watch) ? zt__watch_stopped : "the helper process does not answer");
        zt__end_debugging(watch, reason);
    }
    if (hang.debugged_by != ZT_DEBUGGED_BY_NOBODY) {
        hang.reason = *answer->reason ? answer->reason : reason;
        hang.stopped = answer->stopped;
        hang.unstopped = answer->unavailable;
        hang.threads_elsewhere = answer->elsewhere;
        hang.place_count = answer->place_count;
        for (i = 0; i < answer->place_count; i++) {
            const zt__found_place *found = &answer->places[i];
            zt_hang_place *place = &watch->places[i];
            place->kernel = found->kernel;
            place->address = found->address;
            place->offset = found->offset;
            place->threads = found->threads;
            place->file = found->file;
            place->line = found->line;
        }
        hang.is_left_stopped = request.leave_stopped && hang.stopped > 0;
        zt__lock(&profiler->mutex);
        watch->info.is_stopped = hang.is_left_stopped;
        zt__unlock(&profiler->mutex);
    }
    zt__store(&watch->is_explaining, 0);
    hang.has_ended = running && !hang.is_fault && !zt__still_runs(watch, running);

    zt__write_hang(watch, &hang, &path);
    hang.text = watch->text;
    zt__lock(&profiler->mutex);
    watch->info.hangs += hang.is_fault ? 0 : 1;
    watch->info.faults += hang.is_fault ? 1 : 0;
    zt__unlock(&profiler->mutex);
    zt__log_hang(watch, &hang, path.text);
    if (watch->config.function) {
        call.diagnostics = &profiler->diagnostics; /* it must not call what a log function must not */
        call.outer = zt__log_calls;
        zt__log_calls = &call;
        watch->config.function(&hang, watch->config.user);
        zt__log_calls = call.outer;
    }
}

#endif
