/* A report of several profilers: they are joined into one that is only read. */

#include "reports/joining.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/text.h"
#include "base/threads.h"
#include "metrics/statistics.h"
#include "regions/collecting.h"
#include "regions/columns.h"
#include "regions/creation.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/recordings.h"
#include "regions/reporting.h"
#include "reports/joined_extras.h"
#include "reports/joined_timeline.h"
#include "reports/joining_parts.h"
#include "results/merging.h"
#include "results/results.h"
#include "results/roofline.h"
#include "results/timeline.h"
#include "streams/power.h"

/* ---- the devices ----------------------------------------------------------------------------------------- */

ZT__PRIVATE int zt__has_regions(zt_profiler *profiler) {
    uint32_t i;
    int has_regions = 0;
    zt__lock(&profiler->mutex);
    for (i = 0; i < profiler->region_count; i++) {
        has_regions |= !profiler->regions[i]->is_phase;
    }
    zt__unlock(&profiler->mutex);
    return has_regions;
}

/* For qsort: orders devices as the drivers do. */
static int zt__compare_devices(const void *a, const void *b) {
    const zt__joined_device *one = (const zt__joined_device *)a, *other = (const zt__joined_device *)b;
    if (one->place != other->place) {
        return one->place < other->place ? -1 : 1;
    }
    /* UINT32_MAX, the whole device, comes first */
    return one->tile + 1 < other->tile + 1 ? -1 : one->tile + 1 > other->tile + 1;
}

/* Finds the devices of the members: those on which something ran or, if nothing did, that of the first. */
static void zt__find_devices(zt__joining *joining) {
    zt__joined *joined = joining->whole->joined;
    uint32_t i, k;
    for (i = 0; i < joining->count; i++) {
        zt_profiler *profiler = joining->members[i].profiler;
        zt__joined_device *device = joined->devices;
        for (k = 0; k < joined->device_count && device->handle != profiler->opened_device; k++) {
            device++;
        }
        if (k < joined->device_count || !zt__has_regions(profiler)) {
            continue;
        }
        device->handle = profiler->opened_device;
        device->name = profiler->device_name;
        device->place = profiler->place;
        device->tile = profiler->tile;
        joined->device_count++;
    }
    if (joined->device_count > 1) {
        qsort(joined->devices, joined->device_count, sizeof *joined->devices, zt__compare_devices);
    }
    if (joined->device_count == 0) {
        joined->devices[0].handle = joining->members[0].profiler->opened_device;
        joined->devices[0].name = joining->members[0].profiler->device_name;
        joined->device_count = 1;
    }
    for (i = 0; i < joining->count; i++) {
        zt__member *member = &joining->members[i];
        while (member->device < joined->device_count &&
               joined->devices[member->device].handle != member->profiler->opened_device) {
            member->device++;
        }
    }
    joined->first_device = joining->members[0].device;
}

/* Adds the phase of each device, if there are several. Returns 0 without memory. */
static int zt__add_device_paths(zt__joining *joining) {
    zt_profiler *whole = joining->whole;
    zt__joined *joined = whole->joined;
    char name[ZE_MAX_DEVICE_NAME + 48];
    uint32_t i;
    for (i = 0; i < joined->device_count && joined->device_count > 1; i++) {
        zt__joined_device *device = &joined->devices[i];
        zt__region_record *record;
        zt_cause cause;
        if (device->place == UINT32_MAX) { /* it is after all that have a place */
            snprintf(name, sizeof name, "device: %s", device->name);
        } else if (device->tile == UINT32_MAX) {
            snprintf(name, sizeof name, "device %u: %s", (unsigned)device->place, device->name);
        } else {
            snprintf(name, sizeof name, "device %u.%u: %s", (unsigned)device->place, (unsigned)device->tile,
                     device->name);
        }
        zt__lock(&whole->mutex);
        record = zt__find_or_add_phase_record(whole, name, &cause);
        device->path = record ? zt__find_or_add_path(whole, &whole->root, record) : NULL;
        zt__unlock(&whole->mutex);
        if (!device->path) {
            return 0;
        }
        device->name = record->name;
        device->path->device = i + 1;
    }
    return 1;
}

/* ---- the columns ----------------------------------------------------------------------------------------- */

static int zt__has_same_name(const zt_metric *one, const zt_metric *other) {
    return strcmp(one->name, other->name) == 0 && strcmp(one->group, other->group) == 0;
}

static int zt__is_same_metric(const zt_metric *one, const zt_metric *other) {
    return zt__has_same_name(one, other) && strcmp(one->units, other->units) == 0 &&
           one->aggregation == other->aggregation && one->pass == other->pass;
}

/* Adds a metric that no member before has measured, or not in this way: then its group has another name. Returns 0 without
   memory. */
static int zt__add_metric(zt__joining *joining, const zt_metric *metric) {
    zt_profiler *whole = joining->whole;
    zt_metric *added = &whole->metrics[whole->metric_count];
    uint32_t i, others = 0;
    size_t room = strlen(metric->group) + 16;
    char *group;
    for (i = 0; i < whole->metric_count; i++) {
        others += (uint32_t)zt__has_same_name(joining->sources[i], metric);
    }
    *added = *metric;
    joining->sources[whole->metric_count++] = metric;
    if (others == 0) {
        return 1;
    }
    group = (char *)zt__allocate(&whole->config.allocator, room, 1);
    if (!group) {
        return 0;
    }
    snprintf(group, room, "%s (%u)", metric->group, (unsigned)others + 1);
    added->group = whole->joined->groups[joining->group_count++] = group;
    return 1;
}

/* Makes the metrics of all members those of the whole. Returns 0 without memory. */
static int zt__join_metrics(zt__joining *joining) {
    zt_profiler *whole = joining->whole;
    const zt_allocator *allocator = &whole->config.allocator;
    uint32_t i, m, k, all = 1;
    for (i = 0; i < joining->count; i++) {
        all += joining->members[i].profiler->metric_count;
    }
    whole->metrics = (zt_metric *)zt__allocate(allocator, all, sizeof *whole->metrics);
    whole->joined->groups = (char **)zt__allocate(allocator, all, sizeof *whole->joined->groups);
    joining->sources = (const zt_metric **)zt__allocate(allocator, all, sizeof *joining->sources);
    if (!whole->metrics || !whole->joined->groups || !joining->sources) {
        return 0;
    }
    for (i = 0; i < joining->count; i++) {
        zt__member *member = &joining->members[i];
        const zt_profiler *from = member->profiler;
        member->metrics =
            (uint32_t *)zt__allocate(allocator, (size_t)from->metric_count + 1, sizeof *member->metrics);
        for (m = 0; m < from->metric_count && member->metrics; m++) {
            for (k = 0; k < whole->metric_count; k++) {
                if (zt__is_same_metric(joining->sources[k], &from->metrics[m])) {
                    break;
                }
            }
            if (k == whole->metric_count && !zt__add_metric(joining, &from->metrics[m])) {
                return 0;
            }
            member->metrics[m] = k;
        }
        if (!member->metrics) {
            return 0;
        }
    }
    return 1;
}

/* Finds the column of the whole for each column of a member. Returns 0 without memory. */
static int zt__map_columns(const zt_profiler *whole, zt__member *member) {
    const zt_profiler *from = member->profiler;
    uint32_t i, tile,
        *columns =
            (uint32_t *)zt__allocate(&whole->config.allocator, from->layout.column_count, sizeof *columns);
    member->columns = columns;
    if (!columns) {
        return 0;
    }
    for (i = 0; i < from->metric_count; i++) {
        columns[1 + i] = 1 + member->metrics[i];
        for (tile = 0; tile < from->tile_count; tile++) {
            columns[zt__tile_column(from, tile, i)] = zt__tile_column(whole, tile, member->metrics[i]);
        }
    }
    for (i = 0; i < from->pass_count && from->metric_count > 0; i++) {
        columns[zt__pass_time_column(from, i)] = zt__pass_time_column(whole, i);
    }
    for (i = 0; i < ZT__LATENCY_COUNT; i++) {
        columns[zt__latency_column(from, i)] = zt__latency_column(whole, i);
    }
    return 1;
}

/* Lays out the columns of the whole. Returns 0 without memory. */
static int zt__join_columns(zt__joining *joining) {
    zt_profiler *whole = joining->whole;
    uint32_t i;
    int is_time_of_all = 1; /* all measure the GPU time by the same metric */
    if (!zt__join_metrics(joining)) {
        return 0;
    }
    whole->pass_count = 1;
    for (i = 0; i < joining->count; i++) {
        const zt__member *member = &joining->members[i];
        const zt_profiler *from = member->profiler;
        uint32_t time = from->passes[0].time_metric;
        time = time == UINT32_MAX ? time : member->metrics[time];
        if (i == 0) {
            whole->passes[0].time_metric = time;
        }
        is_time_of_all &= time == whole->passes[0].time_metric;
        whole->pass_count = from->pass_count > whole->pass_count ? from->pass_count : whole->pass_count;
        whole->tile_count = from->tile_count > whole->tile_count ? from->tile_count : whole->tile_count;
        whole->keeps_latencies |= from->keeps_latencies;
        whole->config.samples =
            from->config.samples > whole->config.samples ? from->config.samples : whole->config.samples;
    }
    if (!is_time_of_all) {
        whole->passes[0].time_metric = UINT32_MAX;
    }
    if (!zt__lay_out_columns(whole)) {
        return 0;
    }
    for (i = 0; i < joining->count; i++) {
        if (!zt__map_columns(whole, &joining->members[i])) {
            return 0;
        }
    }
    return 1;
}

/* ---- regions and paths ----------------------------------------------------------------------------------- */

/* Adds the regions and paths of a member. Returns 0 without memory. */
static int zt__join_paths(zt__joining *joining, zt__member *member) {
    zt_profiler *whole = joining->whole, *from = member->profiler;
    const zt_allocator *allocator = &whole->config.allocator;
    const zt__joined *joined = whole->joined;
    zt__path *outermost = member->device < joined->device_count && joined->devices[member->device].path
                              ? joined->devices[member->device].path
                              : &whole->root;
    uint32_t i;
    zt_cause cause;
    member->path_count = zt__get_path_count(from); /* first, so that their regions are counted, too */
    member->region_count = zt__get_region_count(from);
    member->regions = (zt__region_record **)zt__allocate(allocator, (size_t)member->region_count + 1,
                                                         sizeof *member->regions);
    member->paths =
        (zt__path **)zt__allocate(allocator, (size_t)member->path_count + 1, sizeof *member->paths);
    member->phases =
        (zt__path **)zt__allocate(allocator, (size_t)member->path_count + 1, sizeof *member->phases);
    if (!member->regions || !member->paths || !member->phases) {
        return 0;
    }
    for (i = 0; i < member->region_count; i++) {
        const zt__region_record *record = zt__record_at(from, i);
        zt__region_record *into;
        zt__lock(&whole->mutex);
        into = record->is_phase ? zt__find_or_add_phase_record(whole, record->name, &cause)
                                : zt__find_or_add_region(whole, record->name, &cause);
        zt__unlock(&whole->mutex);
        member->regions[i] = into;
        if (!into) {
            return 0;
        }
    }
    for (i = 0; i < member->path_count; i++) {
        const zt__path *path = zt__path_at(from, i);
        const zt__path *outer = path->key.outer;
        zt__region_record *record = member->regions[path->key.region->index];
        zt__path *phase;
        zt__lock(&whole->mutex);
        member->paths[i] =
            zt__find_or_add_path(whole, outer->depth > 0 ? member->paths[outer->index] : outermost, record);
        if (record->is_phase) {
            phase = outer->depth > 0 ? member->phases[outer->index] : &whole->root;
            member->phases[i] = zt__find_or_add_path(whole, phase, record);
        }
        zt__unlock(&whole->mutex);
        if (!member->paths[i] || (record->is_phase && !member->phases[i])) {
            return 0;
        }
    }
    return 1;
}

/* Adds the statistics of a path to one of the whole. Returns 0 without memory. */
static int zt__join_statistics(zt_profiler *whole, const zt__member *member, const zt__path *path,
                               zt__path *to) {
    const zt_allocator *allocator = &whole->config.allocator;
    const zt_profiler *from = member->profiler;
    zt__statistics statistics, entries;
    int has_memory;
    memset(&statistics, 0, sizeof statistics);
    memset(&entries, 0, sizeof entries);
    has_memory = zt__copy_statistics(whole, &whole->layout, &to->statistics, &from->layout, &path->statistics,
                                     member->columns, &statistics) &&
                 zt__copy_statistics(whole, &whole->entry_layout, &to->entries, &from->entry_layout,
                                     &path->entries, NULL, &entries);
    if (has_memory) {
        zt__lock(&whole->mutex);
        zt__merge_statistics(&whole->layout, &to->statistics, &statistics);
        zt__merge_statistics(&whole->entry_layout, &to->entries, &entries);
        zt__add_path_sums(to, path);
        zt__unlock(&whole->mutex);
    }
    zt__free_statistics(allocator, &statistics);
    zt__free_statistics(allocator, &entries);
    return has_memory;
}

/* Adds what was streamed in the samples of a path of the first member, whose streams those of the whole are. Returns 0
   without memory. */
static int zt__join_streamed(zt_profiler *whole, const zt__path *path, zt__path *to) {
    if (path->streamed_count == 0 || to->streamed) {
        return 1;
    }
    to->streamed =
        (zt__moments *)zt__allocate(&whole->config.allocator, path->streamed_count, sizeof *to->streamed);
    if (!to->streamed) {
        return 0;
    }
    memcpy(to->streamed, path->streamed, path->streamed_count * sizeof *to->streamed);
    to->streamed_count = path->streamed_count;
    return 1;
}

/* Adds the results of the paths of a member, nobody else writing to its statistics. Returns 0 without memory. */
static int zt__join_results(zt__joining *joining, zt__member *member) {
    zt_profiler *whole = joining->whole, *from = member->profiler;
    uint32_t i;
    for (i = 0; i < member->path_count; i++) {
        const zt__path *path = zt__path_at(from, i);
        zt__path *to = member->paths[i];
        if (path->key.region->is_phase && to->key.region != member->regions[path->key.region->index]) {
            continue; /* there are too many paths: the phase around it has counted this */
        }
        if (!zt__join_statistics(whole, member, path, to) ||
            (path->depth == 1 && to->device && to->depth == 2 &&
             !zt__join_statistics(whole, member, path, to->key.outer)) ||
            (member == joining->members && !zt__join_streamed(whole, path, to))) {
            return 0;
        }
        zt__lock(&from->mutex);
        zt__add_path_losses(to, path);
        to->kept += path->kept;
        if (member->counts_power) {
            zt__add_power(&to->power, &path->power, 1);
            to->power_s += path->power_s;
        }
        zt__unlock(&from->mutex);
    }
    return 1;
}

/* How often, and how long, the program was in a phase. */
typedef struct zt__time_in_phase {
    uint64_t entered, host_ns, host_own_ns;
    double host_wait_ns;
} zt__time_in_phase;

/* Adds how often and how long the program was in each phase. All profilers that are open at the same time count the same:
   of these, that which has counted most. Returns 0 without memory. */
static int zt__join_times_in_phases(zt__joining *joining) {
    zt_profiler *whole = joining->whole;
    zt__time_in_phase *times;
    uint32_t i, k, p;
    times = (zt__time_in_phase *)zt__allocate(&whole->config.allocator, (size_t)whole->path_count + 1,
                                              sizeof *times);
    if (!times) {
        return 0;
    }
    for (i = 0; i < joining->count; i++) {
        uint64_t since_ns = joining->members[i].profiler->listening_since_ns;
        int is_counted = 0;
        for (k = 0; k < i; k++) {
            is_counted |= joining->members[k].profiler->listening_since_ns == since_ns;
        }
        for (k = i; k < joining->count && !is_counted; k++) {
            const zt__member *member = &joining->members[k];
            if (member->profiler->listening_since_ns != since_ns) {
                continue;
            }
            zt__lock(&member->profiler->mutex);
            for (p = 0; p < member->path_count; p++) {
                const zt__path *path = zt__path_at(member->profiler, p);
                const zt__path *phase = member->phases[p];
                if (!phase || phase->key.region != member->regions[path->key.region->index]) {
                    continue;
                }
                if (path->entered > times[phase->index].entered) {
                    zt__time_in_phase *time = &times[phase->index];
                    time->entered = path->entered;
                    time->host_ns = path->host_ns;
                    time->host_own_ns = path->host_own_ns;
                    time->host_wait_ns = path->host_wait_ns;
                }
            }
            zt__unlock(&member->profiler->mutex);
        }
        for (p = 0; p < whole->path_count && !is_counted; p++) {
            zt__path *path = zt__path_at(whole, p);
            path->entered += times[p].entered;
            path->host_ns += times[p].host_ns;
            path->host_own_ns += times[p].host_own_ns;
            path->host_wait_ns += times[p].host_wait_ns;
        }
        memset(times, 0, ((size_t)whole->path_count + 1) * sizeof *times);
    }
    zt__free(&whole->config.allocator, times);
    return 1;
}

/* Each device is a phase with one entry: the time of all that ran on it. Returns 0 without memory. */
static int zt__join_entries_of_devices(zt_profiler *whole) {
    const zt__joined *joined = whole->joined;
    uint32_t i;
    for (i = 0; i < joined->device_count && joined->device_count > 1; i++) {
        zt__path *path = joined->devices[i].path;
        double gpu_ns = zt__time_of(path);
        zt__clear_statistics(&whole->entry_layout, &path->entries); /* of the phases inside */
        if (!zt__reserve_samples(&whole->config.allocator, &whole->mutex, &whole->entry_layout,
                                 &path->entries, 1)) {
            return 0;
        }
        zt__add_sample(&whole->entry_layout, &path->entries, &gpu_ns);
    }
    return 1;
}

/* ---- what is of no path ---------------------------------------------------------------------------------- */

/* Adds the counts of a member. */
static void zt__join_counts(zt_profiler *whole, const zt__member *member) {
    zt_profiler *from = member->profiler;
    zt__joined *joined = whole->joined;
    zt_memory_info *memory = &whole->memory_info;
    const char *open_region;
    zt__waiting waiting = zt__count_waiting(from);
    uint32_t i;
    open_region = zt__name_open_region(from);
    joined->open_region = joined->open_region ? joined->open_region : open_region;
    joined->waiting.recorded += waiting.recorded;
    joined->waiting.overlapped += waiting.overlapped;
    zt__lock(&from->mutex);
    whole->open_regions += (uint32_t)waiting.open;
    whole->list_count = from->list_count > whole->list_count ? from->list_count : whole->list_count;
    whole->counts.collected += from->counts.collected;
    whole->counts.lost += from->counts.lost;
    whole->counts.dropped += from->counts.dropped;
    whole->counts.begun += waiting.submitted + waiting.overlapped + from->counts.collected +
                           from->counts.lost + from->counts.dropped;
    whole->counts.unobserved_lists += from->counts.unobserved_lists;
    whole->awaited += from->awaited;
    whole->moved_samples += from->moved_samples;
    whole->unknown_launches += from->unknown_launches;
    whole->begins.ns += from->begins.ns;
    whole->ends.ns += from->ends.ns;
    whole->executions.ns += from->executions.ns;
    whole->slow.ns += from->slow.ns;
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        whole->causes[i] += from->causes[i];
    }
    for (i = 0; i < member->region_count; i++) {
        zt__region_record *region = member->regions[i];
        region->lost += from->regions[i]->lost;
        region->dropped += from->regions[i]->dropped;
        region->operations = region->operations > 0 ? region->operations : from->regions[i]->operations;
    }
    memory->bytes += from->memory_info.bytes;
    memory->host_bytes += from->memory_info.host_bytes;
    zt__add_memory(whole, &from->memory_info, &from->root.memory);
    /* The most at once is that of one, or what is in use now of all. */
    memory->peak_bytes = memory->peak_bytes > memory->bytes ? memory->peak_bytes : memory->bytes;
    memory->host_peak_bytes =
        memory->host_peak_bytes > memory->host_bytes ? memory->host_peak_bytes : memory->host_bytes;
    zt__unlock(&from->mutex);
    if (whole->opened_ns == 0 || from->opened_ns < whole->opened_ns) {
        whole->opened_ns = from->opened_ns;
    }
    if (from->listening_since_ns && !whole->listening_since_ns) {
        whole->listening_since_ns = from->listening_since_ns;
    }
}

/* Writes what the reports state of the device: of several, what all have in common. */
static void zt__join_facts(zt__joining *joining) {
    zt_profiler *whole = joining->whole, *first = joining->members[0].profiler;
    const zt__joined *joined = whole->joined;
    zt__facts *facts = &whole->facts;
    zt__peaks peaks = zt__get_peaks(first);
    uint32_t i;
    *facts = first->facts;
    zt__copy_text(whole->device_name, sizeof whole->device_name, first->device_name,
                  strlen(first->device_name));
    whole->availability = zt__get_availability(first);
    snprintf(whole->availability_text.text, sizeof whole->availability_text.text, "%s",
             whole->availability == ZT_AVAILABLE ? "" : zt__get_availability_text(first));
    for (i = 1; i < joining->count; i++) {
        zt_profiler *other = joining->members[i].profiler;
        zt__peaks others = zt__get_peaks(other);
        zt_availability availability = zt__get_availability(other);
        if (joining->members[i].device == joined->device_count) {
            continue; /* nothing ran there */
        }
        if (strcmp(facts->driver_version, other->facts.driver_version) != 0) {
            facts->driver_version[0] = 0;
        }
        if (strcmp(facts->uuid, other->facts.uuid) != 0) {
            facts->uuid[0] = 0;
        }
        if (strcmp(facts->pci_address, other->facts.pci_address) != 0) {
            facts->pci_address[0] = 0;
        }
        facts->core_clock_mhz =
            facts->core_clock_mhz == other->facts.core_clock_mhz ? facts->core_clock_mhz : 0;
        facts->timer_hz = facts->timer_hz == other->facts.timer_hz ? facts->timer_hz : 0;
        /* Rates are those of one device at a time, so a peak that all have is theirs, too. */
        if (!(peaks.bytes >= others.bytes && peaks.bytes <= others.bytes) ||
            !(peaks.operations >= others.operations && peaks.operations <= others.operations)) {
            memset(&peaks, 0, sizeof peaks);
        }
        if (availability != ZT_AVAILABLE && whole->availability == ZT_AVAILABLE) {
            whole->availability = availability;
            snprintf(whole->availability_text.text, sizeof whole->availability_text.text,
                     "of one of the devices or contexts: %.400s", zt__get_availability_text(other));
        }
    }
    whole->peaks = peaks;
    if (joined->device_count > 1) { /* a list of names, the same ones counted */
        char *name = whole->device_name;
        snprintf(name, sizeof whole->device_name, "%u devices", (unsigned)joined->device_count);
    }
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

/* Prepares what a member is read for, while nobody collects. Returns 0 if other threads collect for too long. */
static int zt__lock_member(const zt__member *member, int *is_locked) {
    zt_profiler *profiler = member->profiler;
    *is_locked = 0;
    if (zt__is_owner(&profiler->collector)) {
        return 1;
    }
    *is_locked = zt__lock_until(&profiler->collector, zt__deadline(profiler->config.wait_timeout_ns));
    return *is_locked;
}

/* Adds all results of a member. */
static ze_result_t zt__join_member(zt__joining *joining, zt__member *member) {
    zt_profiler *from = member->profiler;
    int is_locked, has_memory;
    if (!from->is_closed) {
        zt__finish_power(from);
        zt__relate_clocks(from, 1);
    }
    if (!zt__lock_member(member, &is_locked)) {
        return ZE_RESULT_NOT_READY;
    }
    has_memory = zt__join_paths(joining, member) && zt__join_results(joining, member) &&
                 zt__copy_member_timeline(joining, member);
    if (has_memory) {
        zt__join_counts(joining->whole, member);
    }
    if (is_locked) {
        zt__unlock_timed(&from->collector);
    }
    return has_memory ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t zt__join_members(zt__joining *joining) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t i;
    zt__find_devices(joining);
    if (!zt__join_columns(joining) || !zt__add_device_paths(joining) || !zt__begin_joined_timeline(joining)) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    zt__find_sources(joining);
    for (i = 0; i < joining->count && result == ZE_RESULT_SUCCESS; i++) {
        result = zt__join_member(joining, &joining->members[i]);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    zt__join_facts(joining);
    return zt__join_times_in_phases(joining) && zt__join_entries_of_devices(joining->whole) &&
                   zt__end_joined_timeline(joining) && zt__join_extras(joining)
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static void zt__free_members(const zt_allocator *allocator, zt__joining *joining) {
    uint32_t i;
    for (i = 0; i < joining->count; i++) {
        zt__member *member = &joining->members[i];
        zt__free(allocator, member->metrics);
        zt__free(allocator, member->columns);
        zt__free(allocator, (void *)member->regions);
        zt__free(allocator, (void *)member->paths);
        zt__free(allocator, (void *)member->phases);
    }
    zt__free(allocator, joining->members);
    zt__free(allocator, (void *)joining->sources);
}

/* Makes the profiler that the members are joined into. Returns NULL without memory. */
static zt_profiler *zt__create_whole(const zt_profiler *first, uint32_t members) {
    zt_config config = first->config;
    zt_profiler *whole;
    config.log = NULL;
    config.sample = NULL;
    config.thread = 0;
    config.timeline = 0;
    whole = zt__create_profiler(&config);
    if (!whole) {
        return NULL;
    }
    whole->id = first->id;
    whole->joined = (zt__joined *)zt__allocate(&config.allocator, 1, sizeof *whole->joined);
    if (!whole->joined) {
        zt__free_profiler(whole);
        return NULL;
    }
    whole->joined->devices =
        (zt__joined_device *)zt__allocate(&config.allocator, members, sizeof *whole->joined->devices);
    if (first->columns) {
        whole->columns = zt__duplicate_text(&config.allocator, first->columns);
    }
    if (!whole->joined->devices || (first->columns && !whole->columns)) {
        zt__free_joined(whole);
        return NULL;
    }
    return whole;
}

/* Joins the profilers that one reports for. What they share is locked. Returns the profiler itself if no other has
   results. */
static zt_profiler *zt__join_locked(zt_profiler *first, ze_result_t *result) {
    const zt_allocator *allocator = &first->config.allocator;
    zt__joining joining;
    zt_profiler *profiler;
    uint32_t count = 0, others = 0;
    memset(&joining, 0, sizeof joining);
    for (profiler = first; profiler; profiler = zt__load(&profiler->next_reporting)) {
        count++;
        others += profiler != first;
    }
    if (others == 0) {
        return first;
    }
    *result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    joining.members = (zt__member *)zt__allocate(allocator, count, sizeof *joining.members);
    joining.whole = joining.members ? zt__create_whole(first, count) : NULL;
    if (joining.whole) {
        for (profiler = first; profiler; profiler = zt__load(&profiler->next_reporting)) {
            joining.members[joining.count++].profiler = profiler;
        }
        *result = zt__join_members(&joining);
    }
    zt__free_members(allocator, &joining);
    if (*result != ZE_RESULT_SUCCESS) {
        zt__free_joined(joining.whole);
        return NULL;
    }
    return joining.whole;
}

ZT__PRIVATE zt_profiler *zt__join_profilers(zt_profiler *profiler, const char *call, ze_result_t *result) {
    zt_profiler *joined = NULL;
    zt__held held;
    *result = ZE_RESULT_SUCCESS;
    if (!zt__reports_for_others(profiler)) {
        return profiler;
    }
    held = zt__hold_reporting(profiler, zt__deadline(profiler->config.wait_timeout_ns));
    if (held == ZT__NOT_HELD) {
        *result = ZE_RESULT_NOT_READY;
    } else {
        joined = zt__join_locked(profiler, result);
        zt__release_reporting(profiler, held);
    }
    if (*result == ZE_RESULT_NOT_READY) {
        zt__report(&profiler->diagnostics, COLLECTOR_BUSY, *result, call);
    } else if (!joined) {
        zt__report_no_memory(&profiler->diagnostics, call, "a report");
    }
    return joined;
}

ZT__PRIVATE void zt__free_joined(zt_profiler *joined) {
    zt__joined *parts = joined ? joined->joined : NULL;
    zt_allocator allocator;
    uint32_t i;
    if (!parts) {
        return;
    }
    allocator = joined->config.allocator; /* a copy, which outlives the profiler */
    zt__free_joined_extras(joined);
    for (i = 0; parts->groups && parts->groups[i]; i++) {
        zt__free(&allocator, parts->groups[i]);
    }
    zt__free(&allocator, (void *)parts->groups);
    zt__free(&allocator, parts->devices);
    zt__close_timeline(joined);
    zt__free_profiler(joined);
    zt__free(&allocator, parts);
}

ZT__PRIVATE void zt__collect_reported(zt_profiler *profiler) {
    zt_profiler *other;
    zt__held held;
    zt__collect_ready(profiler);
    if (!zt__reports_for_others(profiler)) {
        return;
    }
    held = zt__hold_reporting(profiler, zt__deadline(profiler->config.wait_timeout_ns));
    if (held == ZT__NOT_HELD) {
        return; /* the report then has what was collected before */
    }
    for (other = zt__load(&profiler->next_reporting); other; other = zt__load(&other->next_reporting)) {
        if (!other->is_closed) {
            zt__collect_ready(other);
        }
    }
    zt__release_reporting(profiler, held);
}
