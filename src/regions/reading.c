/* A visit to a recording: what has ended is read and reset. */

#include "regions/reading.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/platform.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "regions/profiler.h"

ZT__PRIVATE int zt__ensure_room(const zt_profiler *profiler, void **memory, size_t *held, size_t count,
                                size_t size) {
    if (*held < count) {
        zt__free(&profiler->config.allocator, *memory);
        *memory = zt__allocate(&profiler->config.allocator, count, size);
        *held = *memory ? count : 0;
    }
    return *held >= count;
}

ZT__PRIVATE void zt__lose(zt__reading *reading, zt_cause cause) {
    reading->outcome = ZT__MISSED;
    reading->cause = cause;
}

/* ---- one probe ------------------------------------------------------------------------------------------- */

/* Keeps the result of a call that has failed. Returns whether it means that the device is lost. */
static int zt__note_result(zt_profiler *profiler, zt__reading *reading, ze_result_t result) {
    int is_lost = zt__means_device_loss(result);
    reading->result = result;
    if (is_lost) {
        zt__store(&profiler->diagnostics.device_lost, 1);
    }
    return is_lost;
}

/* Called when reading a probe fails. Returns whether it has failed often, and for long. */
static int zt__fails_for_long(zt__probe *probe) {
    enum { LONGEST_NS = 20000000, FEW = 4 };
    uint64_t now = zt__now_ns();
    if (probe->failures++ == 0) {
        probe->failing_since_ns = now;
    }
    return probe->failures >= FEW && now - probe->failing_since_ns >= LONGEST_NS;
}

/* Copies the reports of a probe that has ended into the batch. */
static zt__data zt__read_reports(zt_profiler *profiler, zt__probe *probe, zt__reading *reading) {
    enum { LARGEST_REPORT = 1 << 24 }; /* bytes. Those of Intel's devices have less than 10,000 */
    zt__batch *batch = &profiler->batch;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t g;
    for (g = 0; g < batch->pass->group_count && result == ZE_RESULT_SUCCESS; g++) {
        zt__group *group = &batch->pass->groups[g];
        void *raw = batch->raw[g];
        size_t size = 0;
        reading->call = "zetMetricQueryGetData";
        if (group->report_size == 0) {
            result = zetMetricQueryGetData(probe->queries[g], &size, NULL);
            if (result == ZE_RESULT_SUCCESS && size == 0) {
                result = ZE_RESULT_NOT_READY;
            } else if (result == ZE_RESULT_SUCCESS && size > LARGEST_REPORT) {
                result = ZE_RESULT_ERROR_INVALID_SIZE;
            } else if (result == ZE_RESULT_SUCCESS) {
                group->report_size = size;
            }
        }
        if (result == ZE_RESULT_SUCCESS &&
            !zt__ensure_room(profiler, &raw, &batch->raw_size[g], ZT__BATCH * group->report_size, 1)) {
            reading->call = "config.allocator";
            result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        batch->raw[g] = (uint8_t *)raw;
        if (result == ZE_RESULT_SUCCESS) {
            size = group->report_size;
            result = zetMetricQueryGetData(probe->queries[g], &size,
                                           batch->raw[g] + batch->report_count * group->report_size);
            if (result == ZE_RESULT_SUCCESS && size != group->report_size) {
                result = ZE_RESULT_ERROR_INVALID_SIZE;
            }
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        reading->report = batch->report_count++;
        return ZT__DATA_READ;
    }
    if (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_UNKNOWN) {
        /* Drivers return UNKNOWN where the specification says NOT_READY. Some data never arrives, and none
           arrives while other groups are active. */
        if (!zt__fails_for_long(probe)) {
            return ZT__DATA_LATE;
        }
        return probe->pass == profiler->active_pass ? ZT__DATA_MISSING : ZT__DATA_OTHER_PASS;
    }
    zt__note_result(profiler, reading, result);
    return ZT__DATA_REFUSED;
}

/* Queries whether a probe has ended, and when it ran. `is_over`: it has, or never will. `has_ended`: it has. */
static zt__seen zt__look_at_probe(zt_profiler *profiler, zt__probe *probe, int is_over, int has_ended,
                                  zt__reading *reading) {
    ze_result_t result;
    if (zt__is_device_lost(&profiler->diagnostics)) {
        return ZT__SEEN_DEVICE_LOST;
    }
    if (probe->needs_reset) {
        return ZT__SEEN_ENDED;
    }
    if (!probe->shows_end) {
        return is_over ? ZT__SEEN_ENDED : ZT__SEEN_PENDING;
    }
    result = probe->way->read(profiler, probe, has_ended, &reading->times, &reading->call);
    if (result == ZE_RESULT_SUCCESS) {
        return ZT__SEEN_ENDED;
    }
    if (result == ZE_RESULT_NOT_READY) {
        probe->failures = 0;
        return is_over ? ZT__SEEN_NEVER : ZT__SEEN_PENDING;
    }
    if (result == ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT) {
        return ZT__SEEN_NO_EVENT;
    }
    if (zt__note_result(profiler, reading, result)) {
        return ZT__SEEN_DEVICE_LOST;
    }
    return zt__fails_for_long(probe) ? ZT__SEEN_FAILED : ZT__SEEN_FAILING;
}

static zt__owed zt__what_is_owed(const zt__recording *recording, const zt__probe *probe) {
    if (probe->needs_reset) {
        return ZT__OWED_NOTHING;
    }
    if (probe->is_due && !probe->is_read) {
        return ZT__OWED_SAMPLE;
    }
    if (probe->is_dropped) {
        return ZT__OWED_NOTHING;
    }
    if (recording->ran_again) {
        return ZT__OWED_AGAIN;
    }
    return recording->executions > 0 || recording->is_queue ? ZT__OWED_NOTHING : ZT__OWED_UNCOUNTED;
}

/* Starts to fill the next reading of the batch. Its fields are cleared one by one: for a whole reading, compilers choose an
   instruction that takes longer than the rest of a visit. */
static zt__reading *zt__start_reading(zt_profiler *profiler, const zt__recording *recording,
                                      const zt__probe *probe) {
    zt__batch *batch = &profiler->batch;
    zt__reading *reading = &batch->readings[batch->count];
    batch->pass = &profiler->passes[probe->pass];
    reading->outcome = ZT__NO_SAMPLE;
    reading->cause = ZT_CAUSE_COUNT;
    reading->entry = NULL;
    reading->outer_phase = NULL;
    reading->never_began = reading->is_unreported = 0;
    reading->launch_error_ns = 0;
    reading->report = 0;
    reading->result = ZE_RESULT_SUCCESS;
    reading->call = NULL;
    memset(&reading->times, 0, sizeof reading->times);
    reading->begin_ns = reading->end_ns = 0;
    reading->owed = zt__what_is_owed(recording, probe);
    reading->path = probe->path;
    reading->region = probe->region;
    reading->bytes = probe->bytes;
    reading->origin = probe->origin;
    reading->submitted_ns = recording->executions > 0 ? recording->submitted_ns : probe->begun_ns;
    reading->knows_execution =
        (recording->executions > 0 || recording->is_queue) && recording->overlap == ZT__OVERLAPS_NONE;
    reading->times.list = recording->handle;
    if (recording->executions > 0) {
        reading->origin.submitted_by = recording->thread;
        reading->origin.executions = (uint32_t)recording->executions;
        reading->times.runs_on = recording->runs_on;
    }
    if (!probe->is_due) { /* nobody knows when it was submitted */
        reading->submitted_ns = probe->begun_ns;
        reading->knows_execution = 0;
    }
    reading->times.not_before_ns = reading->submitted_ns;
    return reading;
}

/* Looks at a probe, and does what the table of zt__decide says. */
static zt__seen zt__visit_probe(zt_profiler *profiler, zt__visit *visit, zt__probe *probe, int is_over) {
    zt__recording *recording = visit->recording;
    zt__reading *reading = zt__start_reading(profiler, recording, probe);
    int has_ended = recording->first_shows == ZT__FIRST_HAS_RUN && !probe->is_unordered;
    zt__seen seen = zt__look_at_probe(profiler, probe, is_over, has_ended, reading);
    zt__data data = ZT__DATA_OTHER_PASS;
    zt__decision decision;
    const char *call = NULL;
    int is_settled, is_new;
    if (seen == ZT__SEEN_ENDED && !probe->spans_passes &&
        (reading->owed == ZT__OWED_SAMPLE || reading->owed == ZT__OWED_UNCOUNTED)) {
        data = zt__read_reports(profiler, probe, reading);
        if (data == ZT__DATA_REFUSED && zt__is_device_lost(&profiler->diagnostics)) {
            seen = ZT__SEEN_DEVICE_LOST;
        }
    }
    decision = zt__decide(seen, reading->owed, data);
    reading->outcome = decision.outcome;
    reading->cause = decision.cause;
    if (decision.outcome != ZT__NO_SAMPLE) {
        reading->entry = probe->entry;
        reading->origin.entry = probe->entry ? probe->entry->number : 0;
        reading->outer_phase = probe->outer_phase;
        probe->entry = NULL;
        is_new = reading->owed != ZT__OWED_SAMPLE;
        visit->finds_run |= is_new;
        reading->is_unreported = is_new && !visit->reads_front;
        visit->counted += (uint32_t)!is_new;
        if (recording->is_queue) {
            probe->is_read = 1;
        } else {
            probe->is_due = 0;
        }
    }
    if (decision.cause == ZT_DROPPED_NEVER_RAN) {
        probe->is_dropped = 1;
        reading->never_began = recording->executions == 0;
    }
    is_settled = decision.next != ZT__NEXT_WAIT;
    if (decision.next == ZT__NEXT_RESET) {
        ze_result_t result = probe->way->reset(profiler, probe, &call);
        probe->needs_reset = result != ZE_RESULT_SUCCESS;
        if (result != ZE_RESULT_SUCCESS) {
            reading->result = result;
            reading->call = call;
            probe->is_retired |= zt__fails_for_long(probe);
            is_settled = probe->is_retired; /* nobody waits for it */
        }
    } else if (decision.next == ZT__NEXT_RETIRE) {
        probe->is_retired = 1;
        probe->may_be_written = !probe->way->is_foreign;
    }
    probe->is_settled = is_settled;
    visit->settles |= is_settled;
    recording->has_run |= seen != ZT__SEEN_NEVER;
    if (reading->outcome != ZT__NO_SAMPLE || reading->result != ZE_RESULT_SUCCESS) {
        profiler->batch.count++;
    }
    return seen;
}

/* Returns whether the batch has room for what is read of a probe. */
static int zt__has_room(const zt_profiler *profiler, const zt__probe *probe) {
    const zt__batch *batch = &profiler->batch;
    return batch->count == 0 || (batch->count < ZT__BATCH && batch->pass == &profiler->passes[probe->pass]);
}

/* ---- a recording ----------------------------------------------------------------------------------------- */

/* After an event was taken away, unread probes count as ended, and no further execution is seen. */
static ze_result_t zt__without_event(const zt__recording *recording, ze_result_t result) {
    if (result != ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT) {
        return result;
    }
    return recording->unread ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ZT__PRIVATE ze_result_t zt__query_end(zt_profiler *profiler, const zt__recording *recording,
                                      zt__probe **polled, const char **call) {
    ze_result_t result =
        recording->witness || recording->is_unordered ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    zt__probe *probe = *polled;
    for (; recording->is_unordered && probe && result == ZE_RESULT_SUCCESS;) {
        if (probe->is_unordered && probe->shows_end) {
            result = probe->way->read(profiler, probe, 0, NULL, call);
            result = zt__without_event(recording, result);
        }
        if (result == ZE_RESULT_SUCCESS) {
            probe = probe->next;
        }
    }
    *polled = probe;
    if (recording->witness && result == ZE_RESULT_SUCCESS) {
        result = recording->witness->way->read(profiler, recording->witness, 0, NULL, call);
    }
    return zt__without_event(recording, result);
}

/* Called where it cannot be queried whether an execution has ended. If that goes on, its samples are lost. */
static void zt__note_failure(zt_profiler *profiler, zt__visit *visit, ze_result_t result, const char *call) {
    const zt__recording *recording = visit->recording;
    zt__probe *probe = recording->witness ? recording->witness : recording->first;
    zt__reading *reading;
    if (zt__has_room(profiler, probe)) { /* for the message */
        reading = zt__start_reading(profiler, recording, probe);
        zt__note_result(profiler, reading, result);
        reading->call = call;
        profiler->batch.count++;
    }
    visit->asked = zt__fails_for_long(probe) ? ZT__ASKED_FOR_LONG : ZT__ASKED_IN_VAIN;
}

/* Returns whether the device may not have begun a probe yet, although an execution has ended: the probe shows no end, is
   behind the last that does, and its list was not reset. */
static int zt__may_yet_begin(const zt__recording *recording, const zt__probe *probe) {
    return !probe->shows_end && recording->next_state != ZT__RECORDING_CLOSED &&
           (!recording->witness || probe->number > recording->witness->number);
}

ZT__PRIVATE int zt__visit_recording(zt_profiler *profiler, zt__visit *visit) {
    zt__recording *recording = visit->recording;
    const char *call = NULL;
    zt__probe *probe;
    if (zt__is_device_lost(&profiler->diagnostics)) {
        recording->has_ended |= recording->unread != NULL;
        recording->is_look_due = 0; /* no run is found any more */
    } else if (!recording->has_ended) {
        ze_result_t result = zt__query_end(profiler, recording, &recording->polled, &call);
        if (result != ZE_RESULT_SUCCESS && visit->reads_front && recording->unread) {
            return zt__visit_front(profiler, visit);
        }
        if (result == ZE_RESULT_NOT_READY && !recording->unread && recording->is_look_due &&
            recording->next_state == ZT__RECORDING_CLOSED) {
            /* It may have run once more while it was read. Then probes that had been reset have signalled again, and
               the last has not. So each is looked at. */
            result = ZE_RESULT_SUCCESS;
        }
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY) {
            zt__note_failure(profiler, visit, result, call);
        }
        if (result == ZE_RESULT_NOT_READY && recording->first) {
            (recording->witness ? recording->witness : recording->first)->failures = 0;
        }
        if (result != ZE_RESULT_SUCCESS) {
            return 1;
        }
        if (!recording->unread) { /* all of it was read: it has run once more */
            recording->ran_again = 1;
            recording->first_shows = ZT__FIRST_SHOWS_NOTHING;
            recording->is_look_due = 0;
            visit->reads_front = 0; /* so its list is recorded */
            recording->unread = recording->first;
            for (probe = recording->first; probe; probe = probe->next) {
                probe->is_settled = 0;
            }
        }
        recording->has_ended = 1;
    }
    if (recording->first_shows == ZT__FIRST_WAS_NEW &&
        recording->first->way->read(profiler, recording->first, 0, NULL, &call) == ZE_RESULT_SUCCESS) {
        recording->first_shows = ZT__FIRST_HAS_RUN;
    }
    for (probe = recording->unread; probe && zt__has_room(profiler, probe); probe = probe->next) {
        if (!probe->is_settled && zt__may_yet_begin(recording, probe)) {
            probe->is_settled = probe->needs_reset = !visit->reads_front; /* when its recording is closed */
            recording->has_run = 1;
        } else if (!probe->is_settled) {
            zt__visit_probe(profiler, visit, probe, 1);
        }
    }
    return probe == NULL;
}

ZT__PRIVATE int zt__visit_front(zt_profiler *profiler, zt__visit *visit) {
    enum { MOST_PENDING = 32 };
    zt__probe *probe = visit->first, *silent;
    uint32_t pending = 0, silent_count = 0;
    while (zt__has_room(profiler, probe)) {
        zt__seen seen = ZT__SEEN_ENDED;
        int is_silent = !probe->shows_end && !visit->is_over;
        if (!probe->is_settled && !is_silent) {
            seen = zt__visit_probe(profiler, visit, probe, !probe->shows_end);
        }
        silent_count += (uint32_t)(is_silent && !probe->is_settled);
        if (seen == ZT__SEEN_PENDING && (!probe->is_unordered || ++pending == MOST_PENDING)) {
            return 1;
        }
        if (silent_count && !is_silent && seen == ZT__SEEN_ENDED && !probe->is_unordered) {
            for (silent = visit->first; silent != probe && zt__has_room(profiler, silent);
                 silent = silent->next) {
                if (!silent->is_settled && !silent->shows_end) {
                    zt__visit_probe(profiler, visit, silent, 1);
                }
            }
            silent_count = 0;
        }
        if (probe == visit->last) { /* another thread may be adding the next one */
            return 1;
        }
        probe = probe->next;
    }
    return 0;
}
