/* What a report of several profilers has of a tracer, of streams and of an earlier run. */

#include "reports/joined_extras.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "modules/kernel_facts.h"
#include "modules/kernels.h"
#include "regions/profiler.h"
#include "regions/reporting.h"
#include "reports/joining_parts.h"
#include "results/results.h"
#include "results/timeline.h"
#include "streams/power.h"
#include "tracer/hotspot_lines.h"
#include "tracer/hotspots.h"
#include "tracer/memory_use.h"
#include "tracer/tracer.h"

/* ---- power and memory ------------------------------------------------------------------------------------ */

ZT__PRIVATE void zt__find_sources(zt__joining *joining) {
    zt__joined *joined = joining->whole->joined;
    uint32_t i, k;
    for (i = 0; i < joining->count; i++) {
        zt__member *member = &joining->members[i];
        zt_profiler *profiler = member->profiler;
        zt__joined_device *device =
            member->device < joined->device_count ? &joined->devices[member->device] : NULL;
        member->counts_power = profiler->power && device;
        for (k = 0; k < i; k++) {
            const zt__member *other = &joining->members[k];
            if (other->counts_power && other->device == member->device &&
                other->profiler->listening_since_ns == profiler->listening_since_ns) {
                member->counts_power = 0; /* both were open at the same time */
            }
        }
        if (member->counts_power && !device->power) {
            device->power = profiler;
        }
#ifdef ZETOOLS_TRACER
        joined->watches_memory |= zt__is_memory_watched(profiler);
        if (device && profiler->memory) {
            device->memory = device->watchers++ == 0 ? profiler : NULL;
        }
#endif
    }
}

/* Adds the energy of each device, from first to last reading, to its phase. */
static void zt__join_energy(zt__joining *joining) {
    const zt__joined *joined = joining->whole->joined;
    zt__power_step first, last, step;
    uint32_t i, k;
    for (i = 0; i < joining->count; i++) {
        const zt__member *member = &joining->members[i];
        zt__path *path = member->counts_power ? joined->devices[member->device].path : NULL;
        if (!path || !zt__copy_power_step(member->profiler, 0, &first)) {
            continue;
        }
        last = first;
        for (k = 1; zt__copy_power_step(member->profiler, k, &step); k++) {
            last = step;
        }
        zt__add_power(&path->power, &last.sums, 1);
        zt__add_power(&path->power, &first.sums, -1);
        path->power_s += (double)(last.ns - first.ns) * 1e-9;
    }
}

#ifdef ZETOOLS_TRACER

/* ---- kernels --------------------------------------------------------------------------------------------- */

/* Adds launches of a work-group size. */
static void zt__join_shape(zt__kernel *to, const zt_kernel_shape *shape) {
    uint32_t i = 0;
    while (i < to->shape_count &&
           (memcmp(to->shapes[i].group_size, shape->group_size, sizeof shape->group_size) != 0 ||
            memcmp(to->shapes[i].group_count, shape->group_count, sizeof shape->group_count) != 0)) {
        i++;
    }
    if (i == ZT_KERNEL_SHAPES) {
        to->other_launches += shape->launches;
    } else if (i == to->shape_count) {
        to->shapes[to->shape_count++] = *shape;
    } else {
        to->shapes[i].launches += shape->launches;
    }
}

/* Adds a kernel, of which `key` is what it is made of and its name. The mutex of the whole is held. Returns 0 without
   memory. */
static int zt__join_kernel(zt_profiler *whole, const zt__kernel *kernel, const void *key) {
    const zt_allocator *allocator = &whole->config.allocator;
    zt__kernels *to = whole->kernels;
    size_t length = sizeof kernel->facts + strlen(kernel->name);
    zt__kernel *found = (zt__kernel *)zt__map_find(&to->map, key, length);
    uint32_t i;
    if (!found && to->count == ZT__MAX_KERNELS) {
        whole->unknown_launches += kernel->launches;
        return 1;
    }
    if (!found) {
        found = (zt__kernel *)zt__allocate(allocator, 1, sizeof *found + length + 1);
        if (!found || !zt__map_make_room(&to->map, allocator, &whole->mutex)) {
            zt__free(allocator, found);
            return 0;
        }
        memcpy(found + 1, key, length);
        found->facts = kernel->facts;
        found->name = (const char *)(found + 1) + sizeof found->facts;
        zt__map_add(&to->map, found + 1, length, found);
        to->in_order[to->count++] = found;
    }
    found->launches += kernel->launches;
    found->other_launches += kernel->other_launches;
    for (i = 0; i < kernel->shape_count; i++) {
        zt__join_shape(found, &kernel->shapes[i]);
    }
    return 1;
}

/* Adds the kernels of a member. What a device has for work-groups is known if all have the same. Returns 0 without
   memory. */
static int zt__join_kernels(zt_profiler *whole, zt_profiler *from) {
    uint32_t i, count;
    zt__kernels *kernels;
    int has_memory = 1;
    zt__lock(&from->mutex);
    kernels = from->kernels;
    count = kernels ? kernels->count : 0;
    zt__unlock(&from->mutex);
    if (count == 0) {
        return 1;
    }
    if (!whole->kernels) {
        whole->kernels = (zt__kernels *)zt__allocate(&whole->config.allocator, 1, sizeof *whole->kernels);
        if (!whole->kernels) {
            return 0;
        }
        whole->kernels->limits = kernels->limits;
        whole->free_kernels = from->free_kernels;
    } else if (memcmp(&whole->kernels->limits, &kernels->limits, sizeof kernels->limits) != 0) {
        memset(&whole->kernels->limits, 0, sizeof whole->kernels->limits);
    }
    for (i = 0; i < count && has_memory; i++) {
        zt__kernel *kernel = kernels->in_order[i]; /* records neither move nor go, and keys stay */
        zt__kernel copy;
        zt__lock(&from->mutex);
        zt__copy_record(kernel, &copy);
        zt__unlock(&from->mutex);
        zt__lock(&whole->mutex);
        has_memory = zt__join_kernel(whole, &copy, kernel + 1);
        zt__unlock(&whole->mutex);
    }
    return has_memory;
}

/* ---- hot spots ------------------------------------------------------------------------------------------- */

/* Returns the copy of a kernel, made if it is new. Those with the same name and instructions are one. NULL: no memory. */
static zt__sampled_kernel *zt__join_sampled_kernel(zt__hotspots *to, const zt__sampled_kernel *kernel) {
    zt__sampled_kernel *found = to->kernels;
    while (found && (strcmp(found->name, kernel->name) != 0 || found->code.size != kernel->code.size ||
                     found->code.hash != kernel->code.hash)) {
        found = found->next;
    }
    if (!found) {
        found = (zt__sampled_kernel *)zt__allocate(&to->allocator, 1, sizeof *found);
        if (!found) {
            return NULL;
        }
        *found = *kernel;
        found->samples = 0;
        found->next = to->kernels;
        to->kernels = found;
    }
    return found;
}

/* Adds samples at an instruction. The mutex of `to` is held. Returns 0 without memory. */
static int zt__join_spot(zt__hotspots *to, const zt__spot *spot, const uint32_t *counts,
                         uint32_t count_count) {
    zt__sampled_kernel *kernel = zt__join_sampled_kernel(to, spot->key.kernel);
    zt__spot_key key;
    zt__spot *found;
    uint32_t i;
    if (!kernel) {
        return 0;
    }
    memset(&key, 0, sizeof key);
    key.kernel = kernel;
    key.offset = spot->key.offset;
    found = (zt__spot *)zt__map_find(&to->spot_map, &key, sizeof key);
    if (!found) {
        found = (zt__spot *)zt__allocate(&to->allocator, 1, sizeof *found);
        if (!found || !zt__map_make_room(&to->spot_map, &to->allocator, &to->mutex)) {
            zt__free(&to->allocator, found);
            return 0;
        }
        found->key = key;
        found->file = spot->file;
        found->line = spot->line;
        found->is_looked_up = 1;
        zt__map_add(&to->spot_map, &found->key, sizeof found->key, found);
        to->spots[to->spot_count++] = found;
    } else if (!*found->file) {
        found->file = spot->file;
        found->line = spot->line;
    }
    kernel->samples += spot->samples;
    found->samples += spot->samples;
    for (i = 0; i < count_count; i++) {
        if (counts[i] < ZT__MOST_COUNTS) {
            found->counts[counts[i]] += spot->counts[i];
        }
    }
    return 1;
}

/* Finds the place of each count of `from`, which is added if no other has it. UINT32_MAX: there is no room. */
static void zt__join_count_names(zt__hotspots *to, const zt__hotspots *from, uint32_t *counts) {
    uint32_t i, k;
    for (i = 0; i < from->count_count; i++) {
        for (k = 0; k < to->count_count && strcmp(to->count_names[k], from->count_names[i]) != 0;) {
            k++;
        }
        counts[i] = k < ZT__MOST_COUNTS ? k : UINT32_MAX;
        if (k == to->count_count && k < ZT__MOST_COUNTS) {
            memcpy(to->count_names[to->count_count++], from->count_names[i], sizeof to->count_names[0]);
        }
        if (i == from->active_count && k < ZT__MOST_COUNTS) {
            to->active_count = k;
        }
    }
}

static void zt__join_hotspot_counts(zt__hotspots *to, const zt__hotspots *from) {
    zt_hotspots_counts *counts = &to->counts;
    counts->samples += from->counts.samples;
    counts->matched += from->counts.matched;
    counts->outside += from->counts.outside;
    counts->ambiguous += from->counts.ambiguous;
    counts->no_room += from->counts.no_room;
    counts->discarded += from->counts.discarded;
    counts->drops += from->counts.drops;
    to->lacks_tool |= from->lacks_tool;
    to->lacks_lines |= from->lacks_lines;
    to->has_skipped_debug |= from->has_skipped_debug;
    if (!to->group[0]) {
        memcpy(to->group, from->group, sizeof to->group);
        to->period_ns = from->period_ns;
    }
    if (!to->refusal.text[0]) {
        to->refusal = from->refusal;
    }
}

/* Makes room for the hot spots of all members. Returns 0 without memory, and also if there are none. */
static int zt__begin_hotspots(zt__joining *joining, int *has_memory) {
    zt_profiler *whole = joining->whole;
    zt__hotspots *made;
    uint32_t i, room = 0;
    for (i = 0; i < joining->count; i++) {
        zt__hotspots *from = zt__hotspots_of(joining->members[i].profiler);
        if (from && !joining->members[i].profiler->is_closed) {
            zt__find_hotspot_lines(joining->members[i].profiler, "zt_report", 0);
        }
        if (from) {
            zt__lock(&from->mutex);
            room += from->spot_count;
            zt__unlock(&from->mutex);
            whole->free_hotspots = joining->members[i].profiler->free_hotspots;
        }
    }
    if (!whole->free_hotspots) {
        return 0;
    }
    made = (zt__hotspots *)zt__allocate(&whole->config.allocator, 1, sizeof *made);
    *has_memory = made != NULL;
    if (!made) {
        return 0;
    }
    whole->hotspots = made;
    made->profiler = whole;
    made->allocator = whole->config.allocator;
    made->active_count = UINT32_MAX;
    zt__create_mutex(&made->reading.mutex);
    zt__create_mutex(&made->finding.mutex);
    zt__create_mutex(&made->mutex);
    made->spot_capacity = room;
    made->spots = (zt__spot **)zt__allocate(&made->allocator, (size_t)room + 1, sizeof *made->spots);
    *has_memory = made->spots != NULL;
    return *has_memory;
}

static int zt__join_hotspots(zt__joining *joining) {
    uint32_t counts[ZT__MOST_COUNTS], i, k, spots;
    zt__hotspots *to;
    int has_memory = 1;
    if (!zt__begin_hotspots(joining, &has_memory)) {
        return has_memory;
    }
    to = joining->whole->hotspots;
    for (i = 0; i < joining->count && has_memory; i++) {
        zt__hotspots *from = zt__hotspots_of(joining->members[i].profiler);
        if (!from) {
            continue;
        }
        zt__lock(&from->mutex);
        zt__join_count_names(to, from, counts);
        zt__join_hotspot_counts(to, from);
        spots = from->spot_count;
        for (k = 0; k < spots && to->spot_count < to->spot_capacity && has_memory; k++) {
            const zt__spot spot = *from->spots[k]; /* what it refers to stays */
            zt__unlock(&from->mutex);
            zt__lock(&to->mutex);
            has_memory = zt__join_spot(to, &spot, counts, from->count_count);
            zt__unlock(&to->mutex);
            zt__lock(&from->mutex);
        }
        zt__unlock(&from->mutex);
    }
    return has_memory;
}
#endif

/* ---- all of it ------------------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__join_extras(zt__joining *joining) {
    zt_profiler *whole = joining->whole, *first = joining->members[0].profiler;
    zt__joined *joined = whole->joined;
#ifdef ZETOOLS_TRACER
    uint32_t i;
#endif
    zt__join_energy(joining);
    if (joined->device_count == 1) {
        joined->power = joined->devices[0].power;
    }
    whole->baseline = first->baseline;
    zt__lock(&first->mutex);
    whole->attached_streams = first->attached_streams;
    whole->streamed_count = first->streamed_count;
    zt__unlock(&first->mutex);
#ifdef ZETOOLS_TRACER
    for (i = 0; i < joining->count; i++) {
        zt_profiler *from = joining->members[i].profiler;
        zt__tracer *tracer = zt__load(&from->tracer);
        if (tracer && !whole->tracer) {
            whole->tracer = tracer;
        }
        if (!zt__join_kernels(whole, from)) {
            return 0;
        }
    }
    return zt__join_hotspots(joining);
#else
    return 1;
#endif
}

ZT__PRIVATE void zt__free_joined_extras(zt_profiler *joined) {
    joined->attached_streams = NULL; /* these belong to a member, like the tracer and the earlier run */
    joined->baseline = NULL;
    joined->tracer = NULL;
#ifdef ZETOOLS_TRACER
    if (joined->kernels) {
        joined->free_kernels(joined);
    }
    if (joined->hotspots) {
        joined->free_hotspots(joined);
    }
#endif
}
