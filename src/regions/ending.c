/* What becomes of samples in flight when a profiler is closed, or its context is destroyed. */

#include "regions/ending.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "regions/adding.h"
#include "regions/collecting.h"
#include "regions/creation.h"
#include "regions/entering.h"
#include "regions/first_query.h"
#include "regions/probes.h"
#include "regions/profiler.h"
#include "regions/recordings.h"

ZT__PRIVATE void zt__release_counters(zt_profiler *profiler) {
    const zt__pass *pass = &profiler->passes[profiler->active_pass];
    if (profiler->device && !profiler->has_released_counters) {
        zt__deactivate_groups(profiler, pass, pass->group_count);
        profiler->has_released_counters = 1;
    }
}

ZT__PRIVATE void zt__destroy_probes(zt_profiler *profiler) {
    uint64_t deadline = zt__deadline(profiler->config.wait_timeout_ns);
    zt__recording *recording;
    uint32_t i;
    for (i = 0; i < ZT__MAX_PASSES; i++) {
        ZT__INTERNAL(zt__finish_first_query(profiler, &profiler->passes[i], deadline));
    }
    while (profiler->blocks) {
        zt__probe_block *block = profiler->blocks;
        profiler->blocks = block->next;
        ZT__INTERNAL(zt__destroy_block(profiler, block));
    }
    zt__release_counters(profiler);
    zt__lock(&profiler->mutex); /* other threads may end lists of other contexts meanwhile */
    for (recording = profiler->all_recordings; recording; recording = recording->next_of_all) {
        recording->first = recording->last = recording->unread = NULL;
        recording->chain = NULL;
    }
    memset(&profiler->in_flight, 0, sizeof profiler->in_flight);
    memset(&profiler->idle, 0, sizeof profiler->idle);
    for (i = 0; i <= ZT__TIMES_PASS; i++) {
        profiler->passes[i].first_free = NULL;
    }
    zt__unlock(&profiler->mutex);
}

ZT__PRIVATE void zt__detach_profiler(zt_profiler *profiler) {
    zt__stop_listening(profiler); /* zt_close has done so, the destruction of a context has not */
    zt__unregister_profiler(profiler);
    zt__destroy_probes(profiler);
    profiler->device = NULL;
    profiler->context = NULL;
    zt__register_profiler(profiler);
}

/* Returns whether the device may still write to the probes of a recording, as far as is known. */
static int zt__may_run(const zt__recording *recording) {
    switch (recording->state) {
    case ZT__RECORDING_OPEN:
    case ZT__RECORDING_READY: /* an immediate list of unknown kind may be running */
        return recording->unread && recording->list && recording->list->kind == ZT__LIST_UNKNOWN;
    case ZT__RECORDING_CLOSED:
        return !recording->has_ended;
    default:
        return !recording->has_ended || recording->is_queue;
    }
}

/* Loses the samples in flight, and marks what the device may still write to. Returns how many dropped regions
   may run. With the mutex held. */
static unsigned long long zt__abandon_samples(zt_profiler *profiler, unsigned long long *unfinished) {
    unsigned long long running = 0;
    zt__recording *recording;
    zt__probe *probe;
    for (recording = profiler->all_recordings; recording; recording = recording->next_of_all) {
        int may_run = recording->first && zt__may_run(recording);
        if (recording->state == ZT__RECORDING_OPEN) { /* its list may have been immediate */
            zt__lose_samples(profiler, recording, ZT_DROPPED_NEVER_RAN);
        }
        *unfinished += zt__lose_samples(profiler, recording, ZT_LOST_NEVER_DELIVERED);
        for (probe = may_run ? recording->first : NULL; probe; probe = probe->next) {
            /* Around a launch that signals an event of the application, the device writes nothing. */
            int was_read = probe->needs_reset && recording->state != ZT__RECORDING_DIRTY;
            int is_written = !probe->is_settled && !probe->way->is_foreign && !was_read;
            probe->may_be_written |= is_written;
            running += is_written && probe->is_dropped;
        }
    }
    return running;
}

ZT__PRIVATE void zt__abandon_recordings(zt_profiler *profiler, const char *call) {
    const char *not_ended = NULL;
    unsigned long long unfinished = 0, running;
    zt__list *list;
    zt__lock(&profiler->mutex);
    running = zt__abandon_samples(profiler, &unfinished);
    for (list = profiler->lists; list; list = list->next) {
        const char *name = zt__drop_open_regions(profiler, list);
        not_ended = name ? name : not_ended;
    }
    if (not_ended) {
        zt__abandon_samples(profiler, &unfinished);
    }
    zt__unlock(&profiler->mutex);
    zt__try_add_ended_entries(profiler);
    if (not_ended) {
        zt__report(&profiler->diagnostics, REGION_NOT_ENDED, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   not_ended);
    }
    if (unfinished) {
        zt__report(&profiler->diagnostics, NOT_FINISHED, ZE_RESULT_NOT_READY, call, unfinished);
    }
    if (running && !zt__is_device_lost(&profiler->diagnostics)) {
        zt__report(&profiler->diagnostics, DROPPED_RUNNING, ZE_RESULT_NOT_READY, call, running);
    }
}

ZT__PRIVATE void zt__leave_device(zt_profiler *profiler, const char *call) {
    zt__stop_thread(&profiler->thread);
    profiler->config.thread = 0;
    zt__abandon_recordings(profiler, call);
    zt__stop_listening(profiler);
    zt__unregister_profiler(profiler);
    profiler->device = NULL;
    profiler->context = NULL;
    zt__register_profiler(profiler);
}

ZT__PRIVATE uint64_t zt__leave_lists(zt_profiler *profiler) {
    uint64_t left = 0;
    zt__recording *recording;
    zt__probe *probe;
    zt__lock(&profiler->mutex);
    for (recording = profiler->all_recordings; recording; recording = recording->next_of_all) {
        if (!recording->list || recording->is_queue || !recording->first) {
            continue;
        }
        zt__lose_samples(profiler, recording,
                         recording->state == ZT__RECORDING_OPEN ? ZT_DROPPED_NEVER_RAN : ZT_LOST_OVERWRITTEN);
        for (probe = recording->first; probe; probe = probe->next) {
            /* Around a launch that signals an event of the application, the device writes nothing. */
            probe->may_be_written |= !probe->way->is_foreign;
            left += !probe->way->is_foreign;
        }
        recording->first = recording->last = recording->unread = NULL;
        recording->witness = recording->polled = NULL;
        recording->is_look_due = recording->has_ended = recording->is_unordered = 0;
        zt__chain_recording(profiler, recording);
    }
    zt__unlock(&profiler->mutex);
    return left;
}

/* Returns whether a recording may be on its way: OPEN ones may be of an immediate list. With the mutex held. */
static int zt__may_be_on_its_way(const zt__recording *recording, int is_brief) {
    return recording->state != ZT__RECORDING_OPEN || is_brief || recording->unread != recording->first;
}

ZT__PRIVATE void zt__collect_what_runs(zt_profiler *profiler) {
    const uint64_t brief_ns = 20000000;
    uint64_t brief_end_ns = zt__now_ns() + brief_ns;
    zt__wait wait = zt__wait_until(zt__deadline(profiler->config.wait_timeout_ns));
    const zt__recording *running;
    zt__request_looks(profiler);
    do {
        int is_brief = zt__now_ns() < brief_end_ns;
        zt__try_collect(profiler, NULL);
        zt__lock(&profiler->mutex);
        running = profiler->in_flight.first;
        while (running && !zt__may_be_on_its_way(running, is_brief)) {
            running = running->next;
        }
        zt__unlock(&profiler->mutex);
    } while (running && zt__wait_again(&wait));
}
