/* Phases in a trace: what was submitted in an entry of each, on the device. */

#include "reports/trace_phases.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/platform.h"
#include "regions/names.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "reports/trace_sink.h"
#include "results/timeline.h"

/* For qsort: orders by entry. Those without one have no samples, and outer ones come first. */
static int zt__compare_phases(const void *a, const void *b) {
    const zt__traced_phase *one = (const zt__traced_phase *)a, *other = (const zt__traced_phase *)b;
    if (one->span.entry != other->span.entry) {
        return one->span.entry < other->span.entry ? -1 : 1;
    }
    return one->kept > other->kept ? -1 : one->kept < other->kept;
}

/* Copies up to `room` phases that are open. With the mutex held. */
static void zt__copy_open_phases(const zt_profiler *profiler, zt__traced_phases *phases, uint64_t room) {
    uint32_t i;
    for (i = 0; i < profiler->entries.capacity && phases->count < room; i++) {
        const zt__entry *entry = (const zt__entry *)profiler->entries.entries[i].value;
        zt__traced_phase *phase = &phases->phases[phases->count];
        if (entry && entry->is_open) {
            phase->span.begin_ns = entry->begun_ns;
            phase->span.path = entry->path->index;
            phase->span.thread = entry->thread;
            phase->span.entry = entry->number;
            phase->span.outer_entry = entry->outer ? entry->outer->number : 0;
            phase->name = entry->path->key.region->name;
            phase->is_open = 1;
            phase->kept = UINT64_MAX - entry->path->depth; /* after all that have ended */
            phases->count++;
        }
    }
}

ZT__PRIVATE int zt__copy_phases(zt_profiler *profiler, zt__traced_phases *phases) {
    const zt_allocator *allocator = &profiler->config.allocator;
    const zt__timeline *timeline = profiler->timeline;
    uint64_t i, room = 0, ended = 0, open = 0, written = 0;
    if (timeline) {
        zt__lock(&profiler->mutex);
        if (!profiler->joined) { /* else it was done for those that are joined */
            zt__prepare_phase(profiler);
            zt__current_entry(profiler); /* adds those of this thread */
        }
        written = timeline->phases_written;
        ended = written - zt__oldest_kept(written, timeline->capacity);
        open = profiler->entries.count;
        zt__unlock(&profiler->mutex);
    }
    room = ended + open;
    phases->phases = (zt__traced_phase *)zt__allocate(allocator, (size_t)room + 1, sizeof *phases->phases);
    if (!phases->phases) {
        return 0;
    }
    if (timeline) { /* at one moment, so that each phase is either open or among those that have ended */
        zt__lock(&profiler->mutex);
        zt__copy_open_phases(profiler, phases, open);
        written = timeline->phases_written;
        zt__unlock(&profiler->mutex);
    }
    for (i = written > room - phases->count ? written - (room - phases->count) : 0; i < written; i++) {
        zt__traced_phase *phase = &phases->phases[phases->count];
        zt__lock(&profiler->mutex);
        if (i >= zt__oldest_kept(timeline->phases_written, timeline->capacity)) {
            phase->span = timeline->phases[i % timeline->capacity];
            phase->name = zt__path_at(profiler, phase->span.path)->key.region->name;
            phase->kept = i;
            phases->count++;
        }
        zt__unlock(&profiler->mutex);
    }
    if (phases->count) {
        qsort(phases->phases, phases->count, sizeof *phases->phases, zt__compare_phases);
    }
    return 1;
}

/* For bsearch: compares the number of an entry with that of a phase. */
static int zt__compare_entry(const void *key, const void *element) {
    uint32_t entry = *(const uint32_t *)key, other = ((const zt__traced_phase *)element)->span.entry;
    return entry < other ? -1 : entry > other;
}

static zt__traced_phase *zt__phase_of_entry(const zt__traced_phases *phases, uint32_t entry) {
    return entry ? (zt__traced_phase *)bsearch(&entry, phases->phases, phases->count, sizeof *phases->phases,
                                               zt__compare_entry)
                 : NULL;
}

/* Extends a phase by some samples. */
static void zt__extend_phase(zt__traced_phase *phase, uint64_t samples, uint64_t begin_ns, uint64_t end_ns) {
    if (phase->samples == 0 || begin_ns < phase->begin_ns) {
        phase->begin_ns = begin_ns;
    }
    phase->end_ns = end_ns > phase->end_ns ? end_ns : phase->end_ns;
    phase->samples += samples;
}

ZT__PRIVATE void zt__add_to_phase(zt__traced_phases *phases, uint32_t entry, uint64_t begin_ns,
                                  uint64_t end_ns) {
    zt__traced_phase *phase = zt__phase_of_entry(phases, entry);
    if (phase) {
        zt__extend_phase(phase, 1, begin_ns, end_ns);
    }
}

/* ---- tracks of the device -------------------------------------------------------------------------------- */

/* For qsort of pointers: orders by begin, with outer phases before inner ones. */
static int zt__compare_phases_of_device(const void *a, const void *b) {
    const zt__traced_phase *one = *(const zt__traced_phase *const *)a;
    const zt__traced_phase *other = *(const zt__traced_phase *const *)b;
    if (one->begin_ns != other->begin_ns) {
        return one->begin_ns < other->begin_ns ? -1 : 1;
    }
    if (one->end_ns != other->end_ns) {
        return one->end_ns > other->end_ns ? -1 : 1;
    }
    return one < other ? -1 : one > other;
}

/* For qsort of pointers: the same, by track. */
static int zt__compare_phases_of_tracks(const void *a, const void *b) {
    uint32_t one = (*(const zt__traced_phase *const *)a)->track;
    uint32_t other = (*(const zt__traced_phase *const *)b)->track;
    return one == other ? zt__compare_phases_of_device(a, b) : one < other ? -1 : 1;
}

/* Returns the innermost phase of a track at the begin of another one, or UINT32_MAX. `latest` is that which was added
   last. */
static uint32_t zt__find_around(const zt__traced_phases *phases, uint32_t latest,
                                const zt__traced_phase *phase) {
    while (latest != UINT32_MAX && phases->phases[latest].end_ns <= phase->begin_ns) {
        latest = phases->phases[latest].around;
    }
    return latest;
}

/* Places a phase: in the one around it if there is room, else on the first track that has nothing at that time. `latest`
   has the phase of each track that was added last. */
static void zt__place_phase(zt__traced_phases *phases, uint32_t index, uint32_t *latest) {
    zt__traced_phase *phase = &phases->phases[index];
    uint32_t track = phase->outer == UINT32_MAX ? 0 : phases->phases[phase->outer].track;
    if (phase->outer == UINT32_MAX || zt__find_around(phases, latest[track], phase) != phase->outer) {
        track = 0;
        while (track < phases->track_count && zt__find_around(phases, latest[track], phase) != UINT32_MAX) {
            track++;
        }
        phases->track_count += track == phases->track_count;
        phase->around = UINT32_MAX;
    } else {
        phase->around = phase->outer;
    }
    phase->track = track;
    latest[track] = index;
}

ZT__PRIVATE int zt__place_phases(zt_profiler *profiler, zt__traced_phases *phases) {
    const zt_allocator *allocator = &profiler->config.allocator;
    size_t room = (size_t)phases->count + 1;
    uint32_t *latest = (uint32_t *)zt__allocate(allocator, room, sizeof *latest);
    uint32_t i;
    phases->on_device = (zt__traced_phase **)zt__allocate(allocator, room, sizeof *phases->on_device);
    if (!phases->on_device || !latest) {
        zt__free(allocator, latest);
        return 0;
    }
    for (i = phases->count; i > 0; i--) { /* inner ones first */
        zt__traced_phase *phase = &phases->phases[i - 1];
        zt__traced_phase *outer = zt__phase_of_entry(phases, phase->span.outer_entry);
        phase->outer = outer && outer < phase ? (uint32_t)(outer - phases->phases) : UINT32_MAX;
        if (phase->samples > 0) {
            phases->on_device[phases->on_device_count++] = phase;
        }
        if (phase->samples > 0 && phase->outer != UINT32_MAX) {
            zt__extend_phase(outer, phase->samples, phase->begin_ns, phase->end_ns);
        }
    }
    if (phases->on_device_count > 0) {
        memset(latest, 0xFF, room * sizeof *latest); /* UINT32_MAX */
        qsort((void *)phases->on_device, phases->on_device_count, sizeof *phases->on_device,
              zt__compare_phases_of_device);
    }
    for (i = 0; i < phases->on_device_count; i++) {
        zt__place_phase(phases, (uint32_t)(phases->on_device[i] - phases->phases), latest);
    }
    if (phases->on_device_count > 0) {
        qsort((void *)phases->on_device, phases->on_device_count, sizeof *phases->on_device,
              zt__compare_phases_of_tracks);
    }
    zt__free(allocator, latest);
    return 1;
}

/* Ends the phases of a track from the innermost one that is open up to `outer`. */
static void zt__end_phases(zt__trace_sink *sink, const zt__traced_phases *phases, uint32_t innermost,
                           uint32_t outer) {
    for (; innermost != outer; innermost = phases->phases[innermost].around) {
        sink->format->end_slice(sink, phases->phases[innermost].end_ns);
    }
}

ZT__PRIVATE void zt__write_phases_of_device(zt__trace_sink *sink, uint32_t device,
                                            const zt__traced_phases *phases, uint32_t first_flow) {
    const zt__trace_format *format = sink->format;
    char name[48] = "phases";
    uint32_t i, innermost = UINT32_MAX;
    zt__trace_track track = {device, 0};
    for (i = 0; i < phases->on_device_count; i++) {
        const zt__traced_phase *phase = phases->on_device[i];
        uint32_t index = (uint32_t)(phase - phases->phases);
        zt__trace_event event = {ZT__TRACE_SLICE, phase->name,   "phase", {device, phase->track + 1},
                                 phase->begin_ns, phase->end_ns, 0,       NULL};
        if (event.track.number != track.number) {
            zt__end_phases(sink, phases, innermost, UINT32_MAX);
            if (phase->track > 0) {
                snprintf(name, sizeof name, "phases, overlap %u", (unsigned)phase->track);
            }
            track = event.track;
            format->name_track(sink, track, name);
            format->begin_sequence(sink, track);
            innermost = UINT32_MAX;
        }
        zt__end_phases(sink, phases, innermost, phase->around);
        innermost = index;
        format->begin_event(sink, &event);
        format->add_number(sink, "samples", (double)phase->samples);
        if (phase->is_open) {
            format->add_flag(sink, "open");
        }
        format->end_flow(sink, first_flow + index);
        format->end_event(sink);
    }
    zt__end_phases(sink, phases, innermost, UINT32_MAX);
}

ZT__PRIVATE void zt__free_phases(zt_profiler *profiler, zt__traced_phases *phases) {
    zt__free(&profiler->config.allocator, phases->phases);
    zt__free(&profiler->config.allocator, (void *)phases->on_device);
}
