/* Regions by name, paths, lists by handle, and names of lists. */

#include "regions/names.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "regions/profiler.h"

/* ---- names and lists: with the mutex held, which is unlocked while memory is allocated ------------------- */

ZT__PRIVATE const char *zt__shown_name(const char *name) {
    return name && *name ? name : "(unnamed)";
}

ZT__PRIVATE zt__region_record *zt__guess_region(const zt__list *list, const char *name) {
    zt__region_record *region = list && list->latest ? list->latest->follower : NULL;
    return region && strcmp(region->name, name) == 0 ? region : NULL;
}

/* Allocates while the mutex is unlocked: the caller has to repeat its look-ups. */
static void *zt__allocate_unlocked(zt_profiler *profiler, size_t count, size_t size) {
    void *memory;
    zt__unlock(&profiler->mutex);
    memory = zt__allocate(&profiler->config.allocator, count, size);
    zt__lock(&profiler->mutex);
    return memory;
}

static void zt__free_unlocked(zt_profiler *profiler, void *memory) {
    zt__unlock(&profiler->mutex);
    zt__free(&profiler->config.allocator, memory);
    zt__lock(&profiler->mutex);
}

static zt__region_record *zt__find_or_add_named(zt_profiler *profiler, const char *name, int is_phase,
                                                zt_cause *cause) {
    zt__map *names = is_phase ? &profiler->phase_names : &profiler->names;
    size_t length = strlen(name);
    zt__region_record *region = (zt__region_record *)zt__map_find(names, name, length), *made;
    zt__region_record **regions;
    int has_room = 1;
    char *copy;
    if (region) {
        return region;
    }
    *cause = ZT_DROPPED_NO_MEMORY;
    made = (zt__region_record *)zt__allocate_unlocked(profiler, 1, sizeof *made + length + 1);
    /* Other threads may add regions while the mutex is unlocked: this one, too, or so many that room is made
       again. */
    while (made && has_room && profiler->region_count < ZT__MAX_REGIONS &&
           (profiler->region_count == profiler->region_capacity || zt__map_is_full(names))) {
        uint32_t before = profiler->region_capacity, capacity = before ? before * 2 : 64;
        if (profiler->region_count == before) {
            regions = (zt__region_record **)zt__allocate_unlocked(profiler, capacity, sizeof *regions);
            has_room = regions || profiler->region_count < profiler->region_capacity;
            if (regions && profiler->region_capacity == before) { /* else another thread has grown it */
                zt__region_record **smaller = profiler->regions;
                if (smaller) {
                    memcpy(regions, smaller, before * sizeof *regions);
                }
                profiler->regions = regions;
                profiler->region_capacity = capacity;
                regions = smaller;
            }
            zt__free_unlocked(profiler, (void *)regions);
        }
        has_room = has_room && zt__map_make_room(names, &profiler->config.allocator, &profiler->mutex);
    }
    region = (zt__region_record *)zt__map_find(names, name, length);
    if (!region && made && has_room && profiler->region_count < ZT__MAX_REGIONS) {
        copy = (char *)(made + 1);
        memcpy(copy, name, length);
        made->name = copy;
        made->is_phase = is_phase;
        made->index = profiler->region_count;
        zt__map_add(names, copy, length, made);
        profiler->regions[profiler->region_count++] = made;
        return made;
    }
    if (!region && made && has_room) {
        *cause = ZT_DROPPED_TOO_MANY_NAMES;
    }
    zt__free_unlocked(profiler, made);
    return region;
}

ZT__PRIVATE zt__region_record *zt__find_or_add_region(zt_profiler *profiler, const char *name,
                                                      zt_cause *cause) {
    return zt__find_or_add_named(profiler, name, 0, cause);
}

ZT__PRIVATE zt__region_record *zt__find_or_add_phase_record(zt_profiler *profiler, const char *name,
                                                            zt_cause *cause) {
    return zt__find_or_add_named(profiler, name, 1, cause);
}

ZT__PRIVATE zt__path *zt__path_at(const zt_profiler *profiler, uint32_t index) {
    return &profiler->path_blocks[index / ZT__PATHS_PER_BLOCK][index % ZT__PATHS_PER_BLOCK];
}

ZT__PRIVATE int zt__is_phase_or_root(const zt__path *path) {
    return path->depth == 0 || path->key.region->is_phase;
}

ZT__PRIVATE zt__path *zt__phase_of(zt__path *path) {
    while (!zt__is_phase_or_root(path)) {
        path = path->key.outer;
    }
    return path;
}

static zt__path *zt__find_path(const zt_profiler *profiler, zt__path *outer, zt__region_record *region) {
    zt__path_key key;
    if (region->paths && region->paths->key.outer == outer) { /* most regions have one path */
        return region->paths;
    }
    key.outer = outer;
    key.region = region;
    return (zt__path *)zt__map_find(&profiler->path_map, &key, sizeof key);
}

ZT__PRIVATE zt__path *zt__find_or_add_path(zt_profiler *profiler, zt__path *outer,
                                           zt__region_record *region) {
    zt__path *path = zt__find_path(profiler, outer, region), *above, *block;
    zt_cause cause;
    int has_room = 1;
    if (!path && (outer->depth == ZT__MAX_DEPTH || profiler->path_count >= ZT__MAX_PATHS)) {
        outer->is_own_unknown = outer->depth > 0;
        outer = zt__phase_of(outer);
        path = region->is_phase ? outer : zt__find_path(profiler, outer, region);
    }
    if (!path && profiler->path_count >= ZT__MAX_PATHS) {
        region = zt__find_or_add_region(profiler, ZT__OTHER_REGION, &cause);
        if (!region) {
            return NULL;
        }
        path = zt__find_path(profiler, outer, region);
    }
    while (!path && has_room &&
           (profiler->path_count == profiler->path_capacity || zt__map_is_full(&profiler->path_map))) {
        if (profiler->path_count == profiler->path_capacity) {
            if (profiler->path_capacity / ZT__PATHS_PER_BLOCK == ZT__COUNT_OF(profiler->path_blocks)) {
                return NULL; /* many threads have added paths at once */
            }
            block = (zt__path *)zt__allocate_unlocked(profiler, ZT__PATHS_PER_BLOCK, sizeof *block);
            has_room = block || profiler->path_count < profiler->path_capacity;
            /* Else another thread has added one. */
            if (block && profiler->path_count == profiler->path_capacity &&
                profiler->path_capacity / ZT__PATHS_PER_BLOCK < ZT__COUNT_OF(profiler->path_blocks)) {
                profiler->path_blocks[profiler->path_capacity / ZT__PATHS_PER_BLOCK] = block;
                profiler->path_capacity += ZT__PATHS_PER_BLOCK;
                block = NULL;
            }
            zt__free_unlocked(profiler, block);
        }
        has_room =
            has_room && zt__map_make_room(&profiler->path_map, &profiler->config.allocator, &profiler->mutex);
        path = zt__find_path(profiler, outer, region); /* another thread may have added it */
    }
    if (path || !has_room) {
        return path;
    }
    path = zt__path_at(profiler, profiler->path_count);
    path->index = profiler->path_count++;
    path->key.outer = outer;
    path->key.region = region;
    path->depth = outer->depth + 1;
    path->device = outer->device;
    path->next = region->paths;
    region->paths = path;
    path->next_inner = outer->inner;
    outer->inner = path;
    path->statistics.seed = zt__hash(region->name, strlen(region->name)) + outer->statistics.seed;
    for (above = outer; above->depth > 0; above = above->key.outer) {
        path->is_repeated |= above->key.region == region;
    }
    zt__map_add(&profiler->path_map, &path->key, sizeof path->key, path);
    return path;
}

ZT__PRIVATE zt__list *zt__find_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    if (!profiler->latest_list || profiler->latest_list->handle != handle) {
        profiler->latest_list =
            (zt__list *)zt__map_find(&profiler->list_map, (const void *)&handle, sizeof handle);
    }
    return profiler->latest_list;
}

ZT__PRIVATE zt__list *zt__add_list(zt_profiler *profiler, ze_command_list_handle_t handle) {
    const zt_allocator *allocator = &profiler->config.allocator;
    zt__list *list, *added;
    if (!zt__map_make_room(&profiler->list_map, allocator, &profiler->mutex)) {
        return NULL;
    }
    if (profiler->unused_lists) {
        list = profiler->unused_lists;
        profiler->unused_lists = list->next;
        memset(list, 0, sizeof *list);
    } else {
        list = (zt__list *)zt__allocate_unlocked(profiler, 1, sizeof *list);
        if (!list || !zt__map_make_room(&profiler->list_map, allocator, &profiler->mutex)) {
            zt__free_unlocked(profiler, list);
            return NULL;
        }
    }
    added = zt__find_list(profiler, handle);
    if (added) { /* by another thread, while the mutex was unlocked */
        list->next = profiler->unused_lists;
        profiler->unused_lists = list;
        return added;
    }
    list->handle = handle;
    list->next = profiler->lists;
    profiler->lists = list;
    profiler->list_count++;
    zt__map_add(&profiler->list_map, (const void *)&list->handle, sizeof list->handle, list);
    return list;
}

ZT_API ze_result_t zt_name_list(zt_profiler *profiler, ze_command_list_handle_t handle, const char *name) {
    enum { MOST_NAMES = 65536 };
    char *copy = NULL, *made = NULL; /* the profiler's copy of the name, and a new one */
    zt__list *list;
    int is_named = name && *name;
    if (!profiler || !profiler->device) {
        return ZE_RESULT_SUCCESS;
    }
    if (!handle) {
        return zt__report_null_handle(&profiler->diagnostics, "zt_name_list", "list");
    }
    zt__lock(&profiler->mutex);
    if (is_named) {
        copy = (char *)zt__map_find(&profiler->list_names, name, strlen(name));
    }
    if (is_named && !copy) {
        made = (char *)zt__allocate_unlocked(profiler, strlen(name) + 1, 1);
    }
    if (made && zt__map_make_room(&profiler->list_names, &profiler->config.allocator, &profiler->mutex)) {
        copy = (char *)zt__map_find(&profiler->list_names, name, strlen(name)); /* added meanwhile */
        if (!copy && profiler->list_names.count < MOST_NAMES) {
            copy = strcpy(made, name);
            made = NULL;
            zt__map_add(&profiler->list_names, copy, strlen(copy), copy);
        }
    }
    if (made) {
        zt__free_unlocked(profiler, made);
    }
    list = zt__find_list(profiler, handle);
    if (copy && !list) {
        list = zt__add_list(profiler, handle);
    }
    if (list) {
        list->name = copy ? copy : is_named ? list->name : NULL;
    }
    zt__unlock(&profiler->mutex);
    if (is_named && (!copy || !list)) {
        return zt__report_no_memory(&profiler->diagnostics, "zt_name_list", "the name of a list");
    }
    return ZE_RESULT_SUCCESS;
}
