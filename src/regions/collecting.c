/* Collections, and the thread that makes them: recordings are visited, and what was read is calculated, counted and delivered. */

#include "regions/collecting.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "regions/adding.h"
#include "regions/calculating.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/reading.h"
#include "regions/recordings.h"

/* ---- visits: with the collector and the mutex held ------------------------------------------------------- */

/* Returns the next recording in flight that this collection has not visited, of one list or of all. */
static zt__recording *zt__next_in_flight(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__recording *recording = profiler->in_flight.first;
    while (recording && (recording->visit == profiler->visits || (handle && recording->handle != handle) ||
                         recording->state == ZT__RECORDING_SUBMITTING)) {
        recording = recording->next;
    }
    return recording;
}

/* Removes the probes of a queue that were read, of those up to `end`. */
static void zt__shorten_queue(zt_profiler *profiler, zt__recording *queue, const zt__probe *end) {
    zt__probe **place = &queue->first, *last = NULL, *probe;
    do {
        probe = *place;
        if (probe->is_read) {
            probe->is_due = probe->is_read = 0;
        }
        if (probe->is_settled) {
            *place = probe->next;
            zt__free_probe(profiler, probe);
        } else {
            last = probe;
            place = &probe->next;
        }
    } while (probe != end);
    if (!*place) {
        queue->last = last;
    }
    queue->unread = queue->first;
}

/* Counts a list as one that ran although nobody has reported it. */
static void zt__note_unreported(zt_profiler *profiler, zt__recording *recording) {
    zt__list *list = recording->list;
    if (!recording->ran_unreported && !(list && list->ran_unreported)) {
        profiler->counts.unobserved_lists++;
    }
    recording->ran_unreported = 1;
    if (list) {
        list->ran_unreported = 1;
    }
}

/* Gives up a closed recording about which the device cannot be asked: its probes are never used again. */
static void zt__retire_recording(zt_profiler *profiler, zt__recording *recording) {
    zt__probe *probe;
    zt__lose_samples(profiler, recording, ZT_LOST_READ_FAILED);
    for (probe = recording->first; probe; probe = probe->next) {
        probe->is_retired = 1;
        probe->may_be_written = !probe->way->is_foreign;
    }
    zt__recycle_recording(profiler, recording);
}

/* Ends the visit of a queue. */
static void zt__leave_queue(zt_profiler *profiler, const zt__visit *visit) {
    zt__recording *queue = visit->recording;
    queue->due -= visit->counted;
    zt__shorten_queue(profiler, queue, visit->last);
    if (!queue->first && !queue->list) {
        zt__recycle_recording(profiler, queue);
    } else {
        zt__chain_recording(profiler, queue);
    }
}

/* Ends the visit of a recording: it is READY if all of it was read, else as before. */
static void zt__leave_recording(zt_profiler *profiler, const zt__visit *visit) {
    zt__recording *recording = visit->recording;
    zt__recording_state to = recording->next_state;
    zt__visited visited;
    recording->due -= visit->counted;
    while (recording->unread && recording->unread->is_settled) {
        recording->unread = recording->unread->next;
    }
    if (visit->finds_run && !visit->reads_front) {
        zt__note_unreported(profiler, recording);
    }
    if (recording->ran_again && recording->list) {
        recording->list->kind = ZT__LIST_RECORDED;
    }
    if (visit->reads_front && recording->unread) {
        recording->has_ended = 0; /* more may be added before the next visit */
    }
    visited.asked = visit->asked;
    visited.is_closed = to == ZT__RECORDING_CLOSED;
    visited.is_read = !recording->unread;
    visited.was_reset = visit->first && visited.is_read && !recording->has_run && recording->executions > 0 &&
                        recording->list;
    visited.owes = recording->due > 0;
    visited.has_ended = recording->has_ended;
    visited.is_look_due = recording->is_look_due;

    switch (zt__decide_recording(&visited)) {
    case ZT__RECORDING_IS_RETIRED:
        zt__retire_recording(profiler, recording);
        return;
    case ZT__RECORDING_IS_FREE:
        if (recording->list) {
            recording->list->current = NULL;
            recording->list = NULL;
        }
        zt__recycle_recording(profiler, recording);
        return;
    case ZT__RECORDING_IS_LOST:
        zt__lose_samples(profiler, recording, ZT_LOST_READ_FAILED);
        recording->overlap = zt__overlap_with(recording, recording->runs_on);
        recording->is_look_due = 0;
        to = ZT__RECORDING_DIRTY;
        break;
    case ZT__RECORDING_IS_VISITED_AGAIN:
        if (!visited.is_closed) {
            /* It is looked at until all is read, because it may run unreported in between; and while the query fails. */
            recording->is_look_due =
                recording->has_ended || (recording->is_look_due && visited.asked == ZT__ASKED_IN_VAIN);
        }
        break;
    case ZT__RECORDING_IS_LOOKED_AT:
        recording->has_ended = 0; /* what was read may have run once more */
        recording->visit = 0;
        break;
    case ZT__RECORDING_HAS_NOT_RUN:
        recording->is_look_due = 0;
        break;
    case ZT__RECORDING_IS_READ:
        recording->has_ended = recording->has_run = recording->ran_again = 0;
        recording->overlap = ZT__OVERLAPS_NONE;
        recording->polled = recording->first;
        to = ZT__RECORDING_READY;
    }
    zt__move_recording(profiler, recording, to);
}

/* Visits one recording. The mutex is unlocked meanwhile. Returns 0 if the batch had no room for all that may
   have ended. */
static int zt__visit_one(zt_profiler *profiler, zt__recording *recording) {
    zt__visit visit;
    int is_complete, was_empty;
    memset(&visit, 0, sizeof visit);
    visit.recording = recording;
    visit.first = recording->unread;
    visit.last = recording->last;
    visit.is_over = recording->has_ended;
    was_empty = profiler->batch.count == 0;
    if (!recording->is_queue) {
        visit.reads_front = recording->state == ZT__RECORDING_OPEN && recording->list &&
                            recording->list->kind == ZT__LIST_UNKNOWN;
        zt__move_recording(profiler, recording, ZT__RECORDING_READING);
    }
    zt__unlock(&profiler->mutex);
    ZT__INTERNAL(is_complete = recording->is_queue ? zt__visit_front(profiler, &visit)
                                                   : zt__visit_recording(profiler, &visit));
    zt__lock(&profiler->mutex);
    if (is_complete || (was_empty && !visit.settles)) { /* else the next visit has more room */
        recording->visit = profiler->visits;
        zt__move_to_end(recording); /* behind those that were not visited */
    }
    if (recording->is_queue) {
        zt__leave_queue(profiler, &visit);
    } else {
        zt__leave_recording(profiler, &visit);
    }
    return is_complete;
}

/* ---- delivering ------------------------------------------------------------------------------------------ */

/* Reports the errors of the batch, and delivers its samples. The log and sample functions run here, so no
   recording is READING any more. No mutex is held. */
static void zt__deliver_batch(zt_profiler *profiler) {
    static const char remedy[] = "Lost samples are counted. Update the driver if this persists.";
    zt__batch *batch = &profiler->batch;
    uint32_t i;
    for (i = 0; i < batch->count; i++) {
        const zt__reading *reading = &batch->readings[i];
        zt__check(&profiler->diagnostics, reading->result, reading->call, remedy);
        if (reading->never_began) {
            continue;
        }
        if (reading->outcome == ZT__MISSED && reading->cause >= ZT_DROPPED_NO_PROBE) {
            zt__report(&profiler->diagnostics, SAMPLE_DROPPED, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name, zt__cause_name(reading->cause));
        } else if (reading->outcome == ZT__MISSED) {
            zt__report(&profiler->diagnostics, SAMPLE_LOST, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name, zt__cause_name(reading->cause));
        }
        if (reading->is_unreported) {
            zt__report(&profiler->diagnostics, UNOBSERVED_LIST, ZE_RESULT_WARNING_DROPPED_DATA,
                       reading->region->name);
        }
        if (reading->outcome == ZT__READ && profiler->config.sample) {
            const double *row = batch->rows + (size_t)i * profiler->row_length;
            zt_sample sample;
            sample.name = reading->region->name;
            sample.region = reading->region->index;
            sample.path = ZT_PATH(reading->path->index);
            sample.thread = reading->origin.submitted_by;
            sample.begin_ns = reading->begin_ns;
            sample.end_ns = reading->end_ns;
            sample.metric_count = profiler->metric_count;
            sample.gpu_time_ns = row[0];
            sample.values = row + 1;
            sample.pass = batch->pass->index == ZT__TIMES_PASS ? 0 : batch->pass->index;
            profiler->config.sample(&sample, profiler->config.sample_user);
        }
    }
}

/* Calculates, counts and delivers what was read. The mutex is held, and unlocked meanwhile. */
static void zt__finish_batch(zt_profiler *profiler) {
    zt__batch *batch = &profiler->batch;
    uint64_t seen_ns = zt__now_ns();
    uint32_t i;
    if (batch->count == 0) {
        return;
    }
    profiler->is_delivering = 1;
    zt__unlock(&profiler->mutex);
    for (i = 0; i < batch->count; i++) {
        batch->readings[i].times.not_after_ns = seen_ns;
    }
    zt__calculate_batch(profiler);
    zt__lock(&profiler->mutex);
    for (i = 0; i < batch->count; i++) {
        zt__count_reading(profiler, &batch->readings[i], batch->rows + (size_t)i * profiler->row_length);
    }
    zt__add_batch(profiler);
    zt__unlock(&profiler->mutex);
    zt__deliver_batch(profiler);
    if (profiler->batch_collected) {
        profiler->batch_collected(profiler);
    }
    zt__lock(&profiler->mutex);
    batch->count = batch->report_count = 0;
    profiler->is_delivering = 0;
}

/* If there are many lists, removes the records of those that have nothing. Otherwise memory would grow in
   programs that create a list for each use. With the mutex held. */
static void zt__clean_lists(zt_profiler *profiler) {
    enum { FEW_LISTS = 64 };
    zt__list **place = &profiler->lists;
    if (profiler->list_count <= profiler->lists_after_cleaning * 2 + FEW_LISTS) {
        return;
    }
    while (*place) {
        zt__list *list = *place;
        zt__recording *recording = list->current;
        if (list->open_count || list->name || (recording && recording->first)) {
            place = &list->next;
            continue;
        }
        if (recording) {
            zt__recycle_recording(profiler, recording);
        }
        *place = list->next;
        zt__map_remove(&profiler->list_map, (const void *)&list->handle, sizeof list->handle);
        profiler->latest_list = NULL;
        profiler->list_count--;
        list->next = profiler->unused_lists;
        profiler->unused_lists = list;
    }
    profiler->lists_after_cleaning = profiler->list_count;
}

/* ---- a collection: with the collector held --------------------------------------------------------------- */

/* Visits what is in flight, of one list, or of all if `handle` is NULL:

   1. zt__visit_one reads up to 64 probes of recordings that have ended, and releases the recordings.
   2. zt__finish_batch calculates what was read in one call, adds it to the statistics, and delivers samples. */
static void zt__run_collection(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__batch *batch = &profiler->batch;
    zt__recording *recording;
    if (profiler->before_collection) {
        profiler->before_collection(profiler);
    }
    zt__lock(&profiler->mutex);
    profiler->visits++;
    if (!handle) {
        profiler->uncollected = 0;
    }
    while ((recording = zt__next_in_flight(profiler, handle)) != NULL) {
        int is_complete = zt__visit_one(profiler, recording);
        if (!is_complete || batch->count == ZT__BATCH) { /* the rest of it is visited again */
            zt__finish_batch(profiler);
        }
    }
    zt__finish_batch(profiler);
    zt__add_ended_entries(profiler);
    zt__clean_lists(profiler);
    zt__unlock(&profiler->mutex);
    if (!handle) {
        zt__store(&profiler->collections, profiler->collections + 1);
    }
}

/* ---- the two ways to collect ----------------------------------------------------------------------------- */

ZT__PRIVATE int zt__try_collect(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__timing timing;
    if (profiler->config.thread && !zt__load(&profiler->thread.ended)) {
        zt__lock(&profiler->mutex);
        profiler->thread_is_idle = 0;
        zt__unlock(&profiler->mutex);
        zt__wake_thread(&profiler->thread);
        return 0;
    }
    if (!zt__try_lock(&profiler->collector)) {
        return 0;
    }
    zt__start_slow_timing(&timing);
    zt__run_collection(profiler, handle);
    zt__end_timing(&profiler->slow, &profiler->mutex, &timing);
    zt__unlock_timed(&profiler->collector);
    return 1;
}

/* Returns whether a look was requested that no collection has made yet, or may be in progress. With the mutex held. */
static int zt__has_looks(const zt_profiler *profiler) {
    const zt__recording *recording = profiler->in_flight.first;
    while (recording && recording->state != ZT__RECORDING_READING && !recording->is_look_due) {
        recording = recording->next;
    }
    return recording != NULL;
}

/* Returns whether one of the first `owed` samples may be uncollected. Those in no recording in flight, because they are read
   and not counted, or nothing shows their end, may be. With the mutex held. */
static int zt__awaits_samples(const zt_profiler *profiler, uint64_t owed) {
    const zt__recording *recording = profiler->awaited > 0 ? profiler->in_flight.first : NULL;
    uint64_t due = 0;
    for (; recording; recording = recording->next) {
        const zt__probe *probe = recording->due > 0 ? recording->first : NULL;
        if (recording->state == ZT__RECORDING_READING && probe) {
            return 1;
        }
        if (recording->state == ZT__RECORDING_DIRTY) {
            continue;
        }
        while (probe && !probe->is_due) {
            probe = probe->next;
        }
        if (probe && probe->owed <= owed) {
            return 1;
        }
        due += recording->due;
    }
    return due != profiler->awaited;
}

ZT__PRIVATE int zt__collect_until(zt_profiler *profiler, zt__goal goal, uint64_t deadline) {
    zt__wait wait = zt__wait_until(deadline);
    uint32_t before = zt__load(&profiler->collections);
    int is_current = 0, awaits = 0;
    uint64_t owed;
    if (zt__is_owner(&profiler->collector)) {
        return 0;
    }
    zt__lock(&profiler->mutex);
    owed = profiler->owed;
    zt__unlock(&profiler->mutex);
    do {
        /* A collection from all lists that begins from now on reads them. One of another thread that is already
           running may have passed them, so the next one counts. */
        is_current =
            zt__try_collect(profiler, NULL) || is_current || zt__load(&profiler->collections) - before >= 2;
        if (is_current && goal == ZT__ALL_SAMPLES) {
            zt__lock(&profiler->mutex);
            awaits = zt__awaits_samples(profiler, owed) || profiler->is_delivering || zt__has_looks(profiler);
            zt__unlock(&profiler->mutex);
        }
    } while ((!is_current || awaits) && zt__wait_again(&wait));
    return is_current && !awaits;
}

ZT__PRIVATE void zt__request_looks(zt_profiler *profiler) {
    zt__lock(&profiler->mutex);
    while (profiler->idle.first) {
        zt__request_look(profiler, profiler->idle.first);
    }
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__check_tracing(zt_profiler *profiler) {
    void (*check_tracing)(zt_profiler *) = zt__load(&profiler->check_tracing);
    if (check_tracing) {
        check_tracing(profiler);
    }
}

ZT__PRIVATE void zt__collect_ready(zt_profiler *profiler) {
    if (profiler->device && !zt__is_owner(&profiler->collector)) {
        zt__check_tracing(profiler);
        zt__request_looks(profiler);
        zt__try_collect(profiler, NULL);
    }
}

ZT__PRIVATE int zt__refuse_inside_callback(zt_profiler *profiler, const char *call) {
    int is_inside = zt__is_owner(&profiler->collector);
    if (is_inside) {
        zt__report(&profiler->diagnostics, INSIDE_CALLBACK, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, call);
    }
    return is_inside;
}

/* ---- the collecting thread ------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__run_collecting_thread(void *user) {
    zt_profiler *profiler = (zt_profiler *)user;
    uint64_t sleep_ns = UINT64_C(1000000000);
    zt__lock(&profiler->mutex);
    /* Waking a thread is expensive. So while regions come, it polls every millisecond instead. */
    profiler->thread_is_idle =
        !profiler->in_flight.first && profiler->counts.begun == profiler->begun_at_last_look;
    profiler->begun_at_last_look = profiler->counts.begun;
    if (!profiler->thread_is_idle) {
        sleep_ns = 1000000;
    }
    zt__unlock(&profiler->mutex);
    zt__sleep_thread(&profiler->thread, sleep_ns);
    if (zt__try_lock(&profiler->collector)) {
        zt__run_collection(profiler, NULL);
        zt__unlock_timed(&profiler->collector);
    }
    return 1;
}

ZT__PRIVATE int zt__must_wake_thread(zt_profiler *profiler) {
    int is_needed = profiler->config.thread && profiler->thread_is_idle;
    if (is_needed) {
        profiler->thread_is_idle = 0;
    }
    return is_needed;
}
