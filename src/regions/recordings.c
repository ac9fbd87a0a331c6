/* The states of recordings, what they count, and their probes. */

#include "regions/recordings.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/threads.h"
#include "regions/names.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "regions/reporting.h"

/* ---- states ---------------------------------------------------------------------------------------------- */

/* clang-format off */
ZT__UNUSED static const unsigned char zt__recording_moves[ZT__RECORDING_STATES][ZT__RECORDING_STATES] = {
    /* from, to      OPEN READY SUBMITTING SUBMITTED READING DIRTY CLOSED */
    /* OPEN */       {0,  0,    1,         0,        1,      0,    1},
    /* READY */      {0,  0,    1,         0,        1,      0,    1},
    /* SUBMITTING */ {1,  1,    0,         1,        0,      1,    1},
    /* SUBMITTED */  {0,  0,    1,         0,        1,      0,    1},
    /* READING */    {1,  1,    0,         1,        0,      1,    1},
    /* DIRTY */      {0,  0,    1,         0,        1,      0,    1},
    /* CLOSED */     {1,  0,    0,         1,        1,      0,    0},
};
/* clang-format on */

ZT__PRIVATE int zt__may_have_run(const zt__recording *recording) {
    return recording->state == ZT__RECORDING_OPEN || recording->state == ZT__RECORDING_READY;
}

ZT__PRIVATE void zt__move_recording(zt_profiler *profiler, zt__recording *recording, zt__recording_state to) {
    zt__recording_state from = recording->state;
    ZT__INVARIANT(zt__recording_moves[from][to]);
    if (from == ZT__RECORDING_DIRTY) {
        profiler->dirty_count--;
        profiler->awaited += recording->due;
    }
    if (to == ZT__RECORDING_DIRTY) {
        profiler->dirty_count++;
        profiler->awaited -= recording->due;
    }
    if (to == ZT__RECORDING_SUBMITTING || to == ZT__RECORDING_READING) {
        recording->next_state = from;
    }
    recording->state = to;
    if (zt__may_have_run(recording)) {
        recording->first_shows = ZT__FIRST_SHOWS_NOTHING; /* the execution was read, or refused */
    }
    zt__chain_recording(profiler, recording);
}

static void zt__unchain(zt__recording *recording) {
    zt__chain *chain = recording->chain;
    if (!chain) {
        return;
    }
    if (recording->previous) {
        recording->previous->next = recording->next;
    } else {
        chain->first = recording->next;
    }
    if (recording->next) {
        recording->next->previous = recording->previous;
    } else {
        chain->last = recording->previous;
    }
    recording->chain = NULL;
}

static void zt__append_to_chain(zt__chain *chain, zt__recording *recording) {
    zt__unchain(recording);
    recording->next = NULL;
    recording->previous = chain->last;
    if (chain->last) {
        chain->last->next = recording;
    } else {
        chain->first = recording;
    }
    chain->last = recording;
    recording->chain = chain;
}

ZT__PRIVATE void zt__move_to_end(zt__recording *recording) {
    if (recording->chain) {
        zt__append_to_chain(recording->chain, recording);
    }
}

ZT__PRIVATE void zt__chain_recording(zt_profiler *profiler, zt__recording *recording) {
    zt__chain *chain = NULL;
    switch (recording->state) {
    case ZT__RECORDING_OPEN:
    case ZT__RECORDING_READY:
        if (recording->is_look_due || recording->has_ended ||
            (recording->unread && recording->list->kind == ZT__LIST_UNKNOWN)) {
            chain = &profiler->in_flight;
        } else if (recording->first) {
            chain = &profiler->idle;
        }
        break;
    case ZT__RECORDING_SUBMITTED:
        /* Where nothing shows when it ends, nothing is visited. */
        if (recording->is_queue ? recording->first != NULL
                                : recording->witness || recording->is_unordered || recording->has_ended) {
            chain = &profiler->in_flight;
        }
        break;
    case ZT__RECORDING_DIRTY:
        chain = recording->has_ended ? &profiler->in_flight : NULL;
        break;
    default:
        chain = &profiler->in_flight;
    }
    if (!chain) {
        zt__unchain(recording);
    } else if (chain != recording->chain) {
        zt__append_to_chain(chain, recording);
    }
}

ZT__PRIVATE zt__overlap zt__overlap_with(const zt__recording *recording, const void *runs_on) {
    int is_mixed = recording->overlap == ZT__OVERLAPS_MIXED || recording->runs_on != runs_on;
    return is_mixed ? ZT__OVERLAPS_MIXED : ZT__OVERLAPS_IN_ORDER;
}

ZT__PRIVATE void zt__request_look(zt_profiler *profiler, zt__recording *recording) {
    if (zt__may_have_run(recording) && recording->first) {
        recording->is_look_due = 1;
        zt__chain_recording(profiler, recording);
    }
}

ZT__PRIVATE void zt__await_reading(zt_profiler *profiler, const zt__list *list) {
    enum { LONGEST_NS = 1000000000 };
    zt__wait wait;
    int goes_on = 1, is_first = 1;
    while (goes_on && list->current && list->current->state == ZT__RECORDING_READING) {
        if (is_first) {
            wait = zt__wait_until(zt__deadline(LONGEST_NS));
            is_first = 0;
        }
        zt__unlock(&profiler->mutex);
        goes_on = zt__wait_again(&wait);
        zt__lock(&profiler->mutex);
    }
}

/* ---- counting -------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__count_begun(zt_profiler *profiler, zt__path *path) {
    profiler->counts.begun++;
    if (path) {
        path->missing++;
    }
}

ZT__PRIVATE void zt__owe_sample(zt_profiler *profiler, zt__recording *recording, zt__probe *probe) {
    zt__count_begun(profiler, probe->path);
    probe->is_due = 1;
    probe->is_settled = 0;
    probe->owed = ++profiler->owed;
    recording->due++;
    profiler->awaited += recording->state != ZT__RECORDING_DIRTY;
}

ZT__PRIVATE void zt__count_missing(zt_profiler *profiler, const zt__missing *missing) {
    int is_dropped = missing->cause >= ZT_DROPPED_NO_PROBE;
    zt__region_record *region = missing->region ? profiler->regions[missing->region->index] : NULL;
    profiler->causes[missing->cause]++;
    profiler->counts.dropped += (uint64_t)is_dropped;
    profiler->counts.lost += (uint64_t)!is_dropped;
    if (region && is_dropped) {
        region->dropped++;
    } else if (region) {
        region->lost++;
    }
    if (missing->path) {
        missing->path->dropped += (uint64_t)is_dropped;
        missing->path->lost += (uint64_t)!is_dropped;
    }
    if (profiler->sample_missing) {
        profiler->sample_missing(profiler, missing);
    }
}

ZT__PRIVATE void zt__count_drop(zt_profiler *profiler, zt__path *path, zt__region_record *region,
                                const zt__list *list, zt_cause cause) {
    zt__missing missing = {
        region, path, list ? list->handle : NULL, list ? list->name : NULL, zt__now_ns(), cause, 1, 0};
    zt__count_begun(profiler, path);
    zt__count_missing(profiler, &missing);
}

ZT__PRIVATE void zt__lose_sample(zt_profiler *profiler, zt__recording *recording, zt__probe *probe,
                                 zt_cause cause) {
    zt__missing missing = {probe->region,
                           probe->path,
                           recording->handle,
                           probe->origin.list_name,
                           recording->submitted_ns,
                           cause,
                           1,
                           0};
    if (recording->executions == 0) {
        missing.since_ns = probe->begun_ns;
    }
    zt__miss_in_phases(profiler, &probe->entry);
    probe->is_due = 0;
    recording->due--;
    profiler->awaited -= recording->state != ZT__RECORDING_DIRTY;
    zt__count_missing(profiler, &missing);
}

ZT__PRIVATE uint32_t zt__lose_samples(zt_profiler *profiler, zt__recording *recording, zt_cause cause) {
    uint32_t lost = 0;
    zt__probe *probe;
    for (probe = recording->due ? recording->first : NULL; probe; probe = probe->next) {
        if (probe->is_due) {
            zt__lose_sample(profiler, recording, probe, cause);
            lost++;
        }
    }
    return lost;
}

ZT__PRIVATE const char *zt__name_open_region(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt__list *list;
    const char *name;
    zt__lock(&locked->mutex);
    list = locked->open_regions ? locked->lists : NULL;
    while (list && !list->innermost) {
        list = list->next;
    }
    name = list ? list->innermost->region->name : locked->joined ? locked->joined->open_region : NULL;
    zt__unlock(&locked->mutex);
    return name;
}

ZT__PRIVATE zt__waiting zt__count_waiting(const zt_profiler *profiler) {
    zt_profiler *locked = zt__mutable(profiler);
    const zt_counts *counts = &locked->counts;
    const zt__recording *recording;
    const zt__probe *probe;
    zt__waiting waiting;
    memset(&waiting, 0, sizeof waiting);
    if (locked->joined) {
        waiting = locked->joined->waiting;
    }
    zt__lock(&locked->mutex);
    waiting.open = locked->open_regions;
    waiting.submitted =
        counts->begun - counts->collected - counts->lost - counts->dropped - waiting.overlapped;
    for (recording = locked->all_recordings; recording; recording = recording->next_of_all) {
        if (recording->state == ZT__RECORDING_OPEN) {
            waiting.submitted -= recording->due; /* its list may have been immediate */
            for (probe = recording->first; probe; probe = probe->next) {
                waiting.recorded += !probe->is_dropped && !probe->is_settled;
            }
        } else if (recording->state == ZT__RECORDING_DIRTY) {
            waiting.submitted -= recording->due;
            waiting.overlapped += recording->due;
        }
    }
    zt__unlock(&locked->mutex);
    return waiting;
}

/* ---- the pool -------------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__free_probe(zt_profiler *profiler, zt__probe *probe) {
    zt__pass *pass = &profiler->passes[probe->pass];
    ZT__INVARIANT(!probe->is_due && !probe->entry);
    probe->list = NULL;
    if (probe->is_retired) {
        return;
    }
    probe->next = pass->first_free;
    pass->first_free = probe;
}

ZT__PRIVATE zt__probe *zt__pop_free_probe(zt__pass *pass) {
    zt__probe *probe = pass->first_free;
    if (probe) {
        pass->first_free = probe->next;
    }
    return probe;
}

/* ---- the recording of a list ----------------------------------------------------------------------------- */

ZT__PRIVATE void zt__add_to_recording(zt__list *list, zt__probe *probe) {
    zt__recording *recording = list->current;
    probe->number = ++list->ended;
    probe->next = NULL;
    probe->is_settled = 0;
    if (recording->last) {
        recording->last->next = probe;
    } else {
        recording->first = probe;
    }
    recording->last = probe;
    if (!recording->unread) {
        recording->unread = probe;
    }
    if (!recording->polled) {
        recording->polled = probe;
    }
    if (probe->shows_end && probe->is_unordered) {
        recording->is_unordered = 1;
    } else if (probe->shows_end) {
        recording->witness = probe;
    }
}

ZT__PRIVATE void zt__recycle_recording(zt_profiler *profiler, zt__recording *recording) {
    while (recording->first) {
        zt__probe *probe = recording->first;
        ZT__INVARIANT(probe->is_settled || probe->is_retired);
        recording->first = probe->next;
        zt__free_probe(profiler, probe);
    }
    if (recording->state != ZT__RECORDING_CLOSED) {
        zt__move_recording(profiler, recording, ZT__RECORDING_CLOSED);
    }
    zt__unchain(recording);
    recording->last = recording->unread = recording->witness = recording->polled = NULL;
    recording->next = profiler->unused_recordings;
    profiler->unused_recordings = recording;
}

/* Starts an empty recording of a list. Returns 0 without memory. */
static int zt__start_recording(zt_profiler *profiler, zt__list *list) {
    zt__recording *recording = profiler->unused_recordings, *next_of_all;
    if (!recording) {
        zt__unlock(&profiler->mutex);
        recording = (zt__recording *)zt__allocate(&profiler->config.allocator, 1, sizeof *recording);
        zt__lock(&profiler->mutex);
        if (!recording) {
            return 0;
        }
        recording->state = ZT__RECORDING_CLOSED;
        recording->next_of_all = profiler->all_recordings;
        profiler->all_recordings = recording;
        recording->next = profiler->unused_recordings;
        if (list->current) { /* another thread was faster */
            profiler->unused_recordings = recording;
            return 1;
        }
    }
    profiler->unused_recordings = recording->next;
    next_of_all = recording->next_of_all;
    memset(recording, 0, sizeof *recording);
    recording->next_of_all = next_of_all;
    recording->list = list;
    recording->handle = list->handle;
    recording->state = ZT__RECORDING_CLOSED;
    recording->is_queue = list->kind == ZT__LIST_IMMEDIATE;
    recording->phase = list->kind == ZT__LIST_RECORDED ? &profiler->root : NULL;
    zt__move_recording(profiler, recording,
                       recording->is_queue ? ZT__RECORDING_SUBMITTED : ZT__RECORDING_OPEN);
    list->current = recording;
    list->begun_ns = zt__now_ns();
    return 1;
}

/* Returns whether the device is known to be done with a recording because its list is reset or destroyed. Events are asked
   about what is on its way; and about what was read, which may have run once more. */
static int zt__ends_with_list(const zt__recording *recording) {
    int is_asked = recording->state == ZT__RECORDING_SUBMITTING ||
                   recording->state == ZT__RECORDING_SUBMITTED ||
                   (recording->state == ZT__RECORDING_READY && !recording->unread);
    int shows_end = recording->witness || recording->is_unordered;
    return !is_asked || !shows_end;
}

ZT__PRIVATE void zt__close_recording(zt_profiler *profiler, zt__list *list) {
    zt__recording *recording = list->current;
    zt__probe *probe;
    if (!recording || recording->state == ZT__RECORDING_READING) {
        return;
    }
    list->current = NULL;
    recording->list = NULL;
    recording->calls = 0;
    if (!recording->first) {
        zt__recycle_recording(profiler, recording);
        return;
    }
    if (recording->is_queue) {
        recording->has_ended = 1; /* what its probes do not show is over */
        return;                   /* it empties as it is read */
    }
    /* What could not be reset is reset now. The others are looked at, because they may have run once more. */
    for (probe = recording->first; probe; probe = probe->next) {
        if (probe->needs_reset) {
            probe->is_settled = 0;
            recording->unread = recording->first;
            recording->is_look_due = 1;
        }
    }
    recording->has_ended |= zt__ends_with_list(recording);
    zt__move_recording(profiler, recording, ZT__RECORDING_CLOSED);
}

/* Frees the probes at the front of a recording that were read. */
static void zt__trim_recording(zt_profiler *profiler, zt__recording *recording) {
    while (recording->first && recording->first->is_settled) {
        zt__probe *probe = recording->first;
        recording->first = probe->next;
        if (recording->unread == probe) {
            recording->unread = probe->next;
        }
        if (recording->polled == probe) {
            recording->polled = probe->next;
        }
        if (recording->witness == probe) {
            recording->witness = NULL;
        }
        if (!recording->first) {
            recording->last = NULL;
        }
        zt__free_probe(profiler, probe);
    }
}

ZT__PRIVATE zt__list *zt__find_list_at_rest(zt_profiler *profiler, ze_command_list_handle_t handle) {
    zt__list *list = zt__find_list(profiler, handle);
    if (list) {
        zt__await_reading(profiler, list);
        list = zt__find_list(profiler, handle);
    }
    return list;
}

ZT__PRIVATE int zt__prepare_recording(zt_profiler *profiler, zt__list *list) {
    zt__recording *recording;
    zt__await_reading(profiler, list);
    recording = list->current;
    if (recording && recording->state == ZT__RECORDING_READING) {
        return 0; /* for so long that it is not waited for: nothing may be added to it */
    }
    if (recording && recording->is_queue != (list->kind == ZT__LIST_IMMEDIATE)) {
        zt__close_recording(profiler, list); /* the list with this handle was destroyed */
    } else if (recording && recording->state == ZT__RECORDING_OPEN && list->kind == ZT__LIST_UNKNOWN) {
        zt__trim_recording(profiler, recording);
        zt__chain_recording(profiler, recording);
    } else if (recording && !recording->is_queue &&
               (recording->state != ZT__RECORDING_OPEN || recording->has_ended)) {
        zt__close_recording(profiler, list); /* it has run, so this is another recording */
    }
    return list->current || zt__start_recording(profiler, list);
}

ZT__PRIVATE int zt__is_busy(const zt__list *list) {
    const zt__recording *recording = list->current;
    return recording && recording->due > 0 && recording->state != ZT__RECORDING_OPEN;
}

/* ---- open regions ---------------------------------------------------------------------------------------- */

ZT__PRIVATE void zt__leave_nesting(zt_profiler *profiler, zt__probe *probe) {
    zt__probe **place = &probe->list->innermost;
    if (*place != probe) {
        (probe->outer ? probe->outer->path : &profiler->root)->is_own_unknown = 1;
        probe->path->is_own_unknown = 1;
    }
    for (; *place != probe; place = &(*place)->outer) {
        (*place)->path->outlives_outer = 1;
    }
    *place = probe->outer;
    probe->path->missing--;
    probe->list->open_count--;
    profiler->open_regions--;
}

ZT__PRIVATE void zt__drop_region(zt_profiler *profiler, zt__probe *probe, zt_cause cause, int has_commands) {
    zt__list *list = probe->list;
    int can_add;
    list->open_count++; /* keeps the record of the list while the mutex is unlocked */
    zt__count_drop(profiler, probe->path, probe->region, list, cause);
    zt__miss_in_phases(profiler, &probe->entry);
    zt__leave_nesting(profiler, probe);
    zt__add(&probe->generation, 1);
    probe->is_dropped = 1;
    zt__await_reading(profiler, list);
    /* Its commands belong to the current recording, also after that has run. One that is READING for so long that it is
       not waited for cannot take it. */
    can_add = list->current ? list->current->state != ZT__RECORDING_READING
                            : has_commands && zt__prepare_recording(profiler, list);
    list->open_count--;
    if (has_commands && can_add) {
        zt__add_to_recording(list, probe);
        zt__chain_recording(profiler, list->current);
    } else {
        probe->is_retired = probe->may_be_written = has_commands;
        zt__free_probe(profiler, probe);
    }
}

ZT__PRIVATE const char *zt__drop_open_regions(zt_profiler *profiler, const zt__list *list) {
    const char *name = NULL;
    while (list->innermost) {
        name = list->innermost->region->name;
        zt__drop_region(profiler, list->innermost, ZT_DROPPED_NOT_CLOSED, 1);
    }
    return name;
}
