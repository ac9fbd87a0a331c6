/* The timeline of a report of several profilers. */

#include "reports/joined_timeline.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/phases.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "reports/joining_parts.h"
#include "results/clocks.h"
#include "results/timeline.h"

/* All times are those of the host: the device's clock of this timeline is the same. */

ZT__PRIVATE int zt__begin_joined_timeline(zt__joining *joining) {
    zt_profiler *whole = joining->whole;
    const zt_allocator *allocator = &whole->config.allocator;
    zt__timeline *made;
    uint32_t i, has_timeline = 0;
    size_t room = 1;
    for (i = 0; i < joining->count; i++) {
        const zt__timeline *timeline = joining->members[i].profiler->timeline;
        has_timeline = timeline ? 1 : has_timeline;
        room += timeline ? timeline->capacity : 0;
    }
    if (!has_timeline) {
        return 1;
    }
    if (room > UINT32_MAX) {
        return 0;
    }
    made = (zt__timeline *)zt__allocate(allocator, 1, sizeof *made);
    whole->timeline = made;
    if (!made) {
        return 0;
    }
    whole->config.timeline = made->capacity = (uint32_t)room;
    made->samples = (zt__timeline_sample *)zt__allocate(allocator, room, sizeof *made->samples);
    made->values = (double *)zt__allocate(allocator, room, whole->row_length * sizeof *made->values);
    made->executions = (zt__execution *)zt__allocate(allocator, room, sizeof *made->executions);
    made->phases = (zt__phase_span *)zt__allocate(allocator, room, sizeof *made->phases);
    made->missing = (zt__missing *)zt__allocate(allocator, ZT__MISSING_KEPT, sizeof *made->missing);
    made->first = made->written = 1; /* so that what is missing can be before the first sample */
    made->clock.ticks_per_second = 1000000000u;
    made->clock.pair_count = 1;
    return made->samples && made->values && made->executions && made->phases && made->missing;
}

/* Copies the samples of a member. With its mutex held. */
static void zt__copy_samples(zt_profiler *whole, const zt__member *member) {
    const zt_profiler *from = member->profiler;
    const zt__timeline *timeline = from->timeline;
    zt__timeline *to = whole->timeline;
    uint64_t i, oldest = zt__oldest_sample(timeline);
    uint32_t column;
    for (i = oldest; i < timeline->written; i++) {
        size_t place = (size_t)(i % timeline->capacity);
        const double *values = timeline->values + place * from->row_length;
        double *row = to->values + (size_t)to->written * whole->row_length;
        zt__timeline_sample *sample = &to->samples[to->written];
        const zt__path *outer_phase = timeline->samples[place].outer_phase;
        if (timeline->samples[place].path >= member->path_count) {
            continue;
        }
        *sample = timeline->samples[place];
        sample->begin_ns =
            zt__convert_time(&timeline->clock, sample->begin_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        sample->end_ns = zt__convert_time(&timeline->clock, sample->end_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        sample->region = member->regions[sample->region]->index;
        sample->path = member->paths[sample->path]->index;
        sample->outer_phase = outer_phase ? member->paths[outer_phase->index] : NULL;
        for (column = 0; column < whole->row_length; column++) {
            row[column] = zt__nan();
        }
        for (column = 0; column < from->row_length; column++) {
            row[member->columns[column]] = values[column];
        }
        to->written++;
    }
    to->replaced_before += oldest - timeline->first;
    to->ambiguous += timeline->ambiguous;
    if (timeline->replaced_until_ns > 0) {
        uint64_t until_ns =
            zt__convert_time(&timeline->clock, timeline->replaced_until_ns, ZT__DEVICE_CLOCK, ZT__HOST_CLOCK);
        to->replaced_until_ns = until_ns > to->replaced_until_ns ? until_ns : to->replaced_until_ns;
    }
    if (to->opened_ns == 0 || timeline->opened_ns < to->opened_ns) {
        to->opened_ns = timeline->opened_ns;
    }
}

/* Copies which samples of a member are missing. With its mutex held. */
static void zt__copy_missing(zt_profiler *whole, const zt__member *member) {
    const zt__timeline *timeline = member->profiler->timeline;
    const zt__joined *joined = whole->joined;
    zt__timeline *to = whole->timeline;
    uint64_t i, oldest = zt__oldest_sample(timeline);
    for (i = zt__oldest_kept(timeline->missing_written, ZT__MISSING_KEPT); i < timeline->missing_written;
         i++) {
        const zt__missing *found = &timeline->missing[i % ZT__MISSING_KEPT];
        zt__missing *missing = &to->missing[to->missing_written++ % ZT__MISSING_KEPT];
        *missing = *found;
        missing->region = found->region ? member->regions[found->region->index] : NULL;
        missing->path = found->path && found->path->depth > 0 ? member->paths[found->path->index] : NULL;
        if (!missing->path && member->device < joined->device_count) {
            missing->path = joined->devices[member->device].path;
        }
        missing->kept_before = oldest == 0 || found->kept_before > oldest ? UINT64_MAX : 0;
    }
}

/* Copies the phases and the executions of lists. With the mutex of the member held. */
static void zt__copy_host_times(zt_profiler *whole, const zt__member *member) {
    const zt__timeline *timeline = member->profiler->timeline;
    zt__timeline *to = whole->timeline;
    uint64_t i;
    for (i = zt__oldest_kept(timeline->phases_written, timeline->capacity); i < timeline->phases_written;
         i++) {
        const zt__phase_span *span = &timeline->phases[i % timeline->capacity];
        if (span->path < member->path_count && member->phases[span->path]) {
            zt__phase_span *copy = &to->phases[to->phases_written++];
            *copy = *span;
            copy->path = member->phases[span->path]->index;
        }
    }
    for (i = zt__oldest_kept(timeline->executions_written, timeline->capacity);
         i < timeline->executions_written; i++) {
        to->executions[to->executions_written++] = timeline->executions[i % timeline->capacity];
    }
}

/* Makes room for entries of phases. Returns 0 without memory. */
static int zt__make_room_for_entries(zt_profiler *whole, uint32_t more) {
    const zt_allocator *allocator = &whole->config.allocator;
    uint32_t room = 0;
    int has_room;
    for (; room < more; room += ZT__ENTRIES_PER_BLOCK) {
        zt__entry_block *block = (zt__entry_block *)zt__allocate(allocator, 1, sizeof *block);
        if (!block) {
            return 0;
        }
        block->next = whole->entry_blocks;
        whole->entry_blocks = block;
    }
    zt__lock(&whole->mutex);
    has_room = zt__map_make_room_for(&whole->entries, more, allocator, &whole->mutex);
    zt__unlock(&whole->mutex);
    return has_room;
}

/* Copies up to `room` entries of phases that are not over. With the mutex of the member held. */
static void zt__copy_open_entries(zt_profiler *whole, const zt__member *member, uint32_t room) {
    const zt__map *entries = &member->profiler->entries;
    zt__entry_block *block = whole->entry_blocks; /* those that were made for this come first */
    uint32_t i, used = 0, copied = 0;
    for (i = 0; i < entries->capacity && copied < room; i++) {
        const zt__entry *entry = (const zt__entry *)entries->entries[i].value;
        zt__entry *found, *copy;
        if (!entry || entry->path->index >= member->path_count || !member->phases[entry->path->index]) {
            continue;
        }
        found = (zt__entry *)zt__map_find(&whole->entries, &entry->number, sizeof entry->number);
        if (found) {
            found->is_open |= entry->is_open;
            continue;
        }
        if (used == ZT__ENTRIES_PER_BLOCK) {
            block = block->next;
            used = 0;
        }
        copy = &block->entries[used++];
        *copy = *entry;
        copy->next = NULL;
        copy->whole = NULL;
        copy->path = member->phases[entry->path->index];
        zt__map_add(&whole->entries, &copy->number, sizeof copy->number, copy);
        copied++;
    }
}

ZT__PRIVATE int zt__copy_member_timeline(zt__joining *joining, zt__member *member) {
    zt_profiler *whole = joining->whole, *from = member->profiler;
    uint32_t entries;
    zt__lock(&from->mutex);
    if (from->takes_phases) {
        zt__prepare_phase(from);
        zt__current_entry(from); /* adds those of this thread */
    }
    entries = from->entries.count;
    zt__unlock(&from->mutex);
    if (!zt__make_room_for_entries(whole, entries)) {
        return 0;
    }
    zt__lock(&from->mutex);
    if (from->timeline) {
        zt__copy_samples(whole, member);
        zt__copy_missing(whole, member);
        zt__copy_host_times(whole, member);
    }
    zt__copy_open_entries(whole, member, entries);
    zt__unlock(&from->mutex);
    return 1;
}

/* For qsort: orders by end, with inner phases before outer ones. */
static int zt__compare_spans_of_phases(const void *a, const void *b) {
    const zt__phase_span *one = (const zt__phase_span *)a, *other = (const zt__phase_span *)b;
    if (one->end_ns != other->end_ns) {
        return one->end_ns < other->end_ns ? -1 : 1;
    }
    if (one->thread != other->thread) {
        return one->thread < other->thread ? -1 : 1;
    }
    if (one->begin_ns != other->begin_ns) {
        return one->begin_ns > other->begin_ns ? -1 : 1;
    }
    return one->path > other->path ? -1 : one->path < other->path;
}

/* For qsort: orders by begin. */
static int zt__compare_executions(const void *a, const void *b) {
    const zt__execution *one = (const zt__execution *)a, *other = (const zt__execution *)b;
    return one->begin_ns < other->begin_ns ? -1 : one->begin_ns > other->begin_ns;
}

ZT__PRIVATE int zt__end_joined_timeline(zt__joining *joining) {
    zt__timeline *timeline = joining->whole->timeline;
    const zt__map *entries = &joining->whole->entries;
    uint64_t i, kept = 0;
    for (i = 0; i < entries->capacity; i++) {
        zt__entry *entry = (zt__entry *)entries->entries[i].value;
        if (entry && entry->outer) {
            entry->outer = (zt__entry *)zt__map_find(entries, &entry->outer->number, sizeof entry->number);
        }
    }
    if (!timeline) {
        return 1;
    }
    /* Each profiler has all phases. */
    qsort(timeline->phases, (size_t)timeline->phases_written, sizeof *timeline->phases,
          zt__compare_spans_of_phases);
    for (i = 0; i < timeline->phases_written; i++) {
        const zt__phase_span *span = &timeline->phases[i];
        zt__phase_span *before = kept > 0 ? &timeline->phases[kept - 1] : NULL;
        if (before && zt__compare_spans_of_phases(before, span) == 0) {
            before->entry = before->entry ? before->entry : span->entry;
            before->outer_entry = before->outer_entry ? before->outer_entry : span->outer_entry;
        } else {
            timeline->phases[kept++] = *span;
        }
    }
    timeline->phases_written = kept;
    qsort(timeline->executions, (size_t)timeline->executions_written, sizeof *timeline->executions,
          zt__compare_executions);
    timeline->changes = 1;
    return 1;
}
