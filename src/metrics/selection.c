/* The groups that a configuration requests, and which of them are measured together. */

#include "metrics/selection.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/shared.h"
#include "base/text.h"
#include "metrics/availability.h"
#include "metrics/driver.h"
#include "metrics/groups.h"

/* ---- the groups that a configuration requests ------------------------------------------------------------ */

/* A selection in progress. */
typedef struct zt__selector {
    const zt_allocator *allocator;
    zt__diagnostics *diagnostics;
    const zt__driver *driver;
    ze_device_handle_t device;
    const zt_config *config;
    zt__selection *selection;
    zt_availability availability; /* after a failure, the reason */
    uint32_t tiles;               /* sets of values in a report of any group */
    zt__catalog catalog;
} zt__selector;

ZT__PRIVATE void zt__free_selection(const zt_allocator *allocator, zt__selection *selection) {
    uint32_t g;
    for (g = 0; g < selection->group_count; g++) {
        zt__free_group(allocator, &selection->groups[g]);
    }
    memset(selection, 0, sizeof *selection);
    selection->pass_count = 1;
}

static int zt__has_group(const zt__selection *selection, zet_metric_group_handle_t handle) {
    uint32_t g = 0;
    while (g < selection->group_count && selection->groups[g].handle != handle) {
        g++;
    }
    return g < selection->group_count;
}

/* Adds a group of the catalog and its metrics to the selection, unless it is there already. With
   config.max_passes of 1, refuses a second group of a domain: drivers would activate only the last one, and
   return SUCCESS all the same. On failure the message was reported. */
static ze_result_t zt__select_group(zt__selector *selector, uint32_t index) {
    const zet_metric_group_properties_t *properties = &selector->catalog.properties[index];
    zt__selection *selection = selector->selection;
    zt__group *group;
    const char *call;
    uint32_t g;
    ze_result_t result;
    if (zt__has_group(selection, selector->catalog.handles[index])) {
        return ZE_RESULT_SUCCESS;
    }
    for (g = 0; g < selection->group_count && selector->config->max_passes == 1; g++) {
        const zet_metric_group_properties_t *other = &selection->groups[g].properties;
        if (other->domain == properties->domain) {
            selector->availability = ZT_GROUPS_CONFLICT;
            return zt__report(selector->diagnostics, GROUPS_CONFLICT, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              other->name, properties->name, (unsigned)properties->domain);
        }
    }
    if (selection->group_count == ZT__MAX_GROUPS) {
        selector->availability = ZT_GROUPS_CONFLICT;
        return zt__report(selector->diagnostics, TOO_MANY_GROUPS, ZE_RESULT_ERROR_INVALID_SIZE,
                          (unsigned)ZT__MAX_GROUPS);
    }
    group = &selection->groups[selection->group_count++];
    group->handle = selector->catalog.handles[index];
    group->properties = *properties;
    group->tiles = selector->tiles;
    result = zt__load_metrics(selector->allocator, group, &call);
    if (result != ZE_RESULT_SUCCESS) {
        selector->availability =
            zt__report_refusal(selector->diagnostics, selector->device, ZT__FOR_REGIONS, result, call, NULL);
    }
    return result;
}

/* ---- the groups that have the requested metrics ---------------------------------------------------------- */

/* Finding the fewest groups that have all requested metrics is a set cover problem, which takes too long to
   solve exactly. So groups are added one by one, beginning with those that have rare metrics. That is not
   always the minimum: where groups have {a, b, c}, {d, e, f}, {a, b, d, e}, {c} and {f}, the third is
   selected first, because it has the most, and then two more, though the first two have everything. */
typedef struct zt__metric_cover {
    uint32_t group_count;  /* those of the catalog, in its order */
    zt__group *groups;     /* the event-based ones, with their metrics; the others have none */
    uint64_t *has;         /* for each group, a bit for each requested metric */
    uint32_t metric_count; /* of all groups */
    uint64_t missing;      /* the requested metrics that no selected group has, as bits */
} zt__metric_cover;

/* Returns the name of a metric by its index among those of all groups. */
static const char *zt__covered_metric_at(const void *cover, uint32_t index) {
    const zt__group *group = ((const zt__metric_cover *)cover)->groups;
    while (index >= group->metric_count) {
        index -= group->metric_count;
        group++;
    }
    return group->metrics[index].name;
}

/* Returns whether fewer than `most` groups are selected of the domain that a group of the catalog has. */
static int zt__domain_has_room(const zt__selector *selector, uint32_t index, uint32_t most) {
    uint32_t g, count = 0;
    for (g = 0; g < selector->selection->group_count; g++) {
        count +=
            selector->selection->groups[g].properties.domain == selector->catalog.properties[index].domain;
    }
    return count < most;
}

static uint32_t zt__count_bits(uint64_t bits) {
    uint32_t count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

/* Returns the group to select next: of the groups that have the rarest missing metric, the one with the most
   missing metrics. Leaves out groups whose domain has `most` selected groups. Returns UINT32_MAX if no other
   group has that metric. */
static uint32_t zt__find_next_group(const zt__selector *selector, const zt__metric_cover *cover,
                                    uint32_t most) {
    uint64_t bit, rarest = 0;
    uint32_t i, count, highest = 0, fewest = UINT32_MAX, next = UINT32_MAX;
    for (bit = 1; bit && bit <= cover->missing; bit <<= 1) {
        uint32_t groups = 0;
        for (i = 0; i < cover->group_count; i++) {
            groups += (cover->has[i] & bit) && zt__domain_has_room(selector, i, most);
        }
        if ((cover->missing & bit) && groups < fewest) {
            fewest = groups;
            rarest = bit;
        }
    }
    for (i = 0; i < cover->group_count; i++) {
        count = zt__count_bits(cover->has[i] & cover->missing);
        if ((cover->has[i] & rarest) && count > highest && zt__domain_has_room(selector, i, most)) {
            highest = count;
            next = i;
        }
    }
    return next;
}

/* Adds groups to the selection until it has all metrics that config.metrics names. Also adds groups that do
   not fit into the passes, so that zt__select_group or zt__plan_passes reports the conflict. On failure the
   message was reported. */
static ze_result_t zt__select_by_metrics(zt__selector *selector) {
    const zt_allocator *allocator = selector->allocator;
    const zt__catalog *catalog = &selector->catalog;
    const char *call = "zt_open", *list = selector->config->metrics, *name;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zt__metric_cover cover;
    size_t length;
    uint32_t i, m, requested = 0;
    memset(&cover, 0, sizeof cover);
    cover.groups = (zt__group *)zt__allocate(allocator, catalog->count, sizeof *cover.groups);
    cover.has = (uint64_t *)zt__allocate(allocator, catalog->count, sizeof *cover.has);
    if (cover.groups && cover.has) {
        cover.group_count = catalog->count;
        result = ZE_RESULT_SUCCESS;
    }
    for (i = 0; i < cover.group_count && result == ZE_RESULT_SUCCESS; i++) {
        if (zt__is_usable_group(catalog, i, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)) {
            cover.groups[i].handle = catalog->handles[i];
            result = zt__load_metrics(allocator, &cover.groups[i], &call);
            cover.metric_count += cover.groups[i].metric_count;
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        selector->availability =
            zt__report_refusal(selector->diagnostics, selector->device, ZT__FOR_REGIONS, result, call, NULL);
    }

    /* Which groups have each of the requested metrics. */
    while (result == ZE_RESULT_SUCCESS && zt__next_name(&list, &name, &length)) {
        uint64_t bit;
        if (requested == ZT__MAX_REQUESTED_METRICS) {
            selector->availability = ZT_NO_SUCH_METRIC;
            result = zt__report(selector->diagnostics, TOO_MANY_METRICS, ZE_RESULT_ERROR_INVALID_SIZE,
                                (unsigned)ZT__MAX_REQUESTED_METRICS);
            break;
        }
        bit = (uint64_t)1 << requested++;
        for (i = 0; i < cover.group_count; i++) {
            for (m = 0; m < cover.groups[i].metric_count; m++) {
                if (zt__equals(cover.groups[i].metrics[m].name, name, length)) {
                    cover.has[i] |= bit;
                    cover.missing |= bit;
                }
            }
        }
        if (!(cover.missing & bit)) {
            char text[ZET_MAX_METRIC_NAME];
            zt__nearest nearest;
            zt__copy_text(text, sizeof text, name, length);
            nearest = zt__find_nearest(text, &cover, cover.metric_count, zt__covered_metric_at);
            selector->availability = ZT_NO_SUCH_METRIC;
            result = zt__report(selector->diagnostics, NO_SUCH_METRIC, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                "zt_open", text, nearest.text);
        }
    }

    /* The groups that config.groups names are selected already. */
    for (i = 0; i < cover.group_count; i++) {
        if (zt__has_group(selector->selection, catalog->handles[i])) {
            cover.missing &= ~cover.has[i];
        }
    }
    while (cover.missing && result == ZE_RESULT_SUCCESS) {
        uint32_t next = zt__find_next_group(selector, &cover, selector->config->max_passes);
        if (next == UINT32_MAX) { /* without a limit there is always one */
            next = zt__find_next_group(selector, &cover, UINT32_MAX);
        }
        cover.missing &= ~cover.has[next];
        result = zt__select_group(selector, next);
    }
    for (i = 0; i < cover.group_count; i++) {
        zt__free_group(allocator, &cover.groups[i]);
    }
    zt__free(allocator, cover.groups);
    zt__free(allocator, cover.has);
    return result;
}

/* ---- which groups are measured together ------------------------------------------------------------------ */

/* Distributes the groups over passes, and puts them into the order of these. The driver may propose passes.
   Else the first group of a domain is in the first pass, the second one in the second, and so on; if a pass
   is full, the group is in the next one that is not. On failure the message was reported. */
static ze_result_t zt__plan_passes(zt__selector *selector) {
    zt__selection *selection = selector->selection;
    zt__group ordered[ZT__MAX_GROUPS];
    zet_metric_group_handle_t handles[ZT__MAX_GROUPS] = {NULL};
    uint32_t pass_of[ZT__MAX_GROUPS], sizes[ZT__MAX_GROUPS] = {0}, group_counts[ZT__MAX_GROUPS] = {0};
    uint32_t g, earlier, pass, end, next = 0, passes = 0, found = 0, count = selection->group_count;
    uint32_t needed = 1, placed = 0, most = selector->config->max_passes;
    int is_planned; /* by the driver */

    /* The driver knows of more conflicts than those of domains. It puts `handles` into the order of passes,
       and stores how many are in each. */
    for (g = 0; g < count; g++) {
        handles[g] = selection->groups[g].handle;
        pass_of[g] = UINT32_MAX;
    }
    is_planned = count > 1 && selector->driver->zetDeviceGetConcurrentMetricGroupsExp &&
                 selector->driver->zetDeviceGetConcurrentMetricGroupsExp(
                     selector->device, count, handles, NULL, &passes) == ZE_RESULT_SUCCESS &&
                 passes <= count &&
                 selector->driver->zetDeviceGetConcurrentMetricGroupsExp(
                     selector->device, count, handles, sizes, &passes) == ZE_RESULT_SUCCESS &&
                 passes <= count;
    for (pass = 0; pass < passes && is_planned; pass++) {
        is_planned = sizes[pass] > 0 && sizes[pass] <= ZT__MAX_GROUPS_IN_PASS && sizes[pass] <= count - next;
        for (end = next + sizes[pass]; next < end && is_planned; next++) {
            g = 0;
            while (g < count && selection->groups[g].handle != handles[next]) {
                g++;
            }
            if (g < count && pass_of[g] == UINT32_MAX) {
                pass_of[g] = pass;
                found++;
            }
        }
    }

    /* Without a plan of the driver that has all groups, domains decide. */
    if (!is_planned || found != count) {
        for (g = 0; g < count; g++) {
            pass = 0;
            for (earlier = 0; earlier < g; earlier++) {
                if (selection->groups[earlier].properties.domain == selection->groups[g].properties.domain) {
                    pass = pass_of[earlier] + 1; /* the groups of a domain are in ascending passes */
                }
            }
            while (group_counts[pass] == ZT__MAX_GROUPS_IN_PASS) {
                pass++;
            }
            pass_of[g] = pass;
            group_counts[pass]++;
        }
    }
    for (g = 0; g < count; g++) {
        if (pass_of[g] >= needed) {
            needed = pass_of[g] + 1;
        }
    }
    if (most > ZT__MAX_PASSES) {
        most = ZT__MAX_PASSES;
    }
    if (needed > most) {
        selector->availability = ZT_GROUPS_CONFLICT;
        return zt__report(selector->diagnostics, TOO_MANY_PASSES, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          (unsigned)needed, (unsigned)most,
                          most < ZT__MAX_PASSES ? ", or raise config.max_passes" : "");
    }
    for (pass = 0; pass < needed; pass++) {
        selection->pass_sizes[pass] = 0;
        for (g = 0; g < count; g++) {
            if (pass_of[g] == pass) {
                ordered[placed] = selection->groups[g];
                ordered[placed].first_metric = selection->metric_count;
                selection->metric_count += ordered[placed++].metric_count;
                selection->pass_sizes[pass]++;
            }
        }
    }
    memcpy(selection->groups, ordered, placed * sizeof *ordered);
    selection->pass_count = needed;
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE ze_result_t zt__select_groups(const zt_allocator *allocator, zt__diagnostics *diagnostics,
                                          const zt__driver *driver, ze_device_handle_t device,
                                          const zt_config *config, zt__selection *selection,
                                          zt_availability *availability) {
    zt__selector selector = {allocator, diagnostics,          driver, device, config, selection, ZT_AVAILABLE,
                             1,         {0, NULL, NULL, NULL}};
    const zet_metric_group_sampling_type_flags_t type = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    const char *call, *list = config->groups, *name;
    size_t length;
    uint32_t index;
    ze_result_t result;
    memset(selection, 0, sizeof *selection);
    selection->pass_count = 1;
    if (config->groups && !zt__has_names(config->groups)) {
        *availability = ZT_TIMES_BY_CHOICE;
        return ZE_RESULT_SUCCESS;
    }
    if (driver->zetMetricGroupCalculateMultipleMetricValuesExp) {
        uint32_t tiles = 0;
        ZT__INTERNAL(result = zeDeviceGetSubDevices(device, &tiles, NULL));
        if (result == ZE_RESULT_SUCCESS && tiles > 0 && tiles <= ZT__MAX_TILES) {
            selector.tiles = tiles;
        }
    }
    result = zt__open_catalog(allocator, driver, device, &selector.catalog, &call);
    if (result != ZE_RESULT_SUCCESS) {
        *availability = zt__report_refusal(diagnostics, device, ZT__FOR_REGIONS, result, call, NULL);
        return result;
    }
    if (!zt__has_counters(&selector.catalog)) {
        selector.availability = ZT_LIBRARY_MISSING;
        result = zt__report(diagnostics, METRIC_LIBRARY_MISSING, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                            (unsigned)selector.catalog.count);
    } else if (!list && !zt__has_names(config->metrics)) { /* the default group */
        index = zt__find_group(&selector.catalog, "ComputeBasic", strlen("ComputeBasic"), type);
        if (index == UINT32_MAX) {
            index = zt__find_group(&selector.catalog, NULL, 0, type);
        }
        result = zt__select_group(&selector, index);
    }
    while (list && result == ZE_RESULT_SUCCESS && zt__next_name(&list, &name, &length)) {
        index = zt__find_group(&selector.catalog, name, length, type);
        if (index == UINT32_MAX) {
            selector.availability = ZT_NO_SUCH_GROUP;
            result = zt__report_no_group(diagnostics, "zt_open", &selector.catalog, name, length, type);
        } else {
            result = zt__select_group(&selector, index);
        }
    }
    if (result == ZE_RESULT_SUCCESS && zt__has_names(config->metrics)) {
        result = zt__select_by_metrics(&selector);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__plan_passes(&selector);
    }
    zt__close_catalog(allocator, &selector.catalog);
    if (result != ZE_RESULT_SUCCESS) {
        zt__free_selection(allocator, selection);
    }
    *availability = selector.availability;
    return result;
}

/* ---- groups that are not selected ------------------------------------------------------------------------ */

/* Stores which of its names, from 1, each wanted metric has in a group. Returns the sum of the weights of
   those that the group has. */
static uint32_t zt__weigh_group(const zt__group *group, const char *const *lists, const uint32_t *weights,
                                uint32_t count, uint8_t *found) {
    uint32_t i, m, sum = 0;
    for (i = 0; i < count; i++) {
        const char *list = lists[i], *name;
        uint8_t number = 0;
        size_t length;
        found[i] = 0;
        while (weights[i] && !found[i] && zt__next_name(&list, &name, &length)) {
            number++;
            for (m = 0; m < group->metric_count && !found[i]; m++) {
                found[i] = zt__equals(group->metrics[m].name, name, length) ? number : 0;
            }
        }
        sum += found[i] ? weights[i] : 0;
    }
    return sum;
}

ZT__PRIVATE int zt__find_other_group(zt__diagnostics *diagnostics, const zt_allocator *allocator,
                                     const zt__driver *driver, ze_device_handle_t device,
                                     const zt__selection *selection, const char *const *lists,
                                     const uint32_t *weights, uint32_t count, uint8_t *found,
                                     char name[ZET_MAX_METRIC_GROUP_NAME]) {
    static const char remedy[] = "Reports do not name a group that would show more.";
    uint8_t has[ZT__MAX_REQUESTED_METRICS];
    zt__catalog catalog;
    zt__group group;
    const char *call;
    uint32_t i, sum, most = 0;
    ze_result_t result = zt__open_catalog(allocator, driver, device, &catalog, &call);
    memset(found, 0, count);
    if (zt__check(diagnostics, result, call, remedy) != ZE_RESULT_SUCCESS) {
        return 0;
    }
    for (i = 0; i < catalog.count; i++) {
        if (zt__has_group(selection, catalog.handles[i]) ||
            !zt__is_usable_group(&catalog, i, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)) {
            continue;
        }
        memset(&group, 0, sizeof group);
        group.handle = catalog.handles[i];
        result = zt__load_metrics(allocator, &group, &call);
        if (zt__check(diagnostics, result, call, remedy) == ZE_RESULT_SUCCESS) {
            sum = zt__weigh_group(&group, lists, weights, count, has);
            if (sum > most) {
                most = sum;
                memcpy(found, has, count);
                memcpy(name, catalog.properties[i].name, ZET_MAX_METRIC_GROUP_NAME);
            }
        }
        zt__free_group(allocator, &group);
    }
    zt__close_catalog(allocator, &catalog);
    return most > 0;
}
