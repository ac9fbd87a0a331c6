/* Creates, frees and registers profilers. */

#include "regions/creation.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/threads.h"
#include "metrics/driver.h"
#include "metrics/groups.h"
#include "metrics/statistics.h"
#include "regions/names.h"
#include "regions/phases.h"
#include "regions/profiler.h"

ZT__PRIVATE zt_profiler *zt__create_profiler(const zt_config *complete) {
    zt_profiler *profiler = (zt_profiler *)zt__allocate(&complete->allocator, 1, sizeof *profiler);
    uint32_t pass;
    if (!profiler) {
        return NULL;
    }
    profiler->config = *complete;
    zt__create_mutex(&profiler->collector.mutex);
    zt__create_mutex(&profiler->mutex);
    profiler->diagnostics.mutex = &profiler->mutex;
    profiler->diagnostics.log = complete->log;
    profiler->diagnostics.log_user = complete->log_user;
    profiler->pass_count = 1;
    for (pass = 0; pass <= ZT__TIMES_PASS; pass++) {
        profiler->passes[pass].index = pass;
        profiler->passes[pass].time_metric = UINT32_MAX;
    }
    return profiler;
}

static void zt__free_lists(const zt_allocator *allocator, zt__list *lists) {
    while (lists) {
        zt__list *list = lists;
        lists = list->next;
        zt__free(allocator, list);
    }
}

ZT__PRIVATE void zt__free_profiler(zt_profiler *profiler) {
    zt_allocator allocator = profiler->config.allocator;
    uint32_t i;
    for (i = 0; i < profiler->region_count; i++) {
        zt__free(&allocator, profiler->regions[i]);
    }
    zt__free_lists(&allocator, profiler->lists);
    zt__free_lists(&allocator, profiler->unused_lists);
    while (profiler->all_recordings) {
        zt__recording *recording = profiler->all_recordings;
        profiler->all_recordings = recording->next_of_all;
        zt__free(&allocator, recording);
    }
    for (i = 0; i < ZT__MAX_GROUPS_IN_PASS; i++) {
        zt__free(&allocator, profiler->batch.raw[i]);
        zt__free(&allocator, profiler->batch.values[i]);
    }
    zt__free(&allocator, profiler->batch.rows);
    for (i = 0; i < profiler->path_count; i++) {
        zt__free_statistics(&allocator, &zt__path_at(profiler, i)->statistics);
        zt__free_statistics(&allocator, &zt__path_at(profiler, i)->entries);
        zt__free(&allocator, zt__path_at(profiler, i)->streamed);
    }
    for (i = 0; i < profiler->path_capacity / ZT__PATHS_PER_BLOCK; i++) {
        zt__free(&allocator, profiler->path_blocks[i]);
    }
    while (profiler->entry_blocks) {
        zt__entry_block *block = profiler->entry_blocks;
        profiler->entry_blocks = block->next;
        for (i = 0; i < ZT__ENTRIES_PER_BLOCK; i++) {
            if (block->entries[i].whole) {
                block->entries[i].is_incomplete = 1;
                zt__leave_whole_entry(&block->entries[i]);
            }
        }
        zt__free(&allocator, block);
    }
    zt__map_free(&profiler->entries, &allocator);
    zt__free(&allocator, (void *)profiler->phase_paths);
    zt__map_free(&profiler->names, &allocator);
    zt__map_free(&profiler->phase_names, &allocator);
    zt__map_free(&profiler->path_map, &allocator);
    zt__map_free(&profiler->list_map, &allocator);
    for (i = 0; i < profiler->list_names.capacity; i++) {
        zt__free(&allocator, profiler->list_names.entries[i].value);
    }
    zt__map_free(&profiler->list_names, &allocator);
    zt__free(&allocator, (void *)profiler->regions);
    for (i = 0; i < profiler->selection.group_count; i++) {
        zt__free_group(&allocator, &profiler->selection.groups[i]);
    }
    zt__free(&allocator, profiler->metrics);
    zt__free(&allocator, profiler->lost_flags);
    zt__free(&allocator, profiler->column_aggregations);
    zt__free(&allocator, profiler->kept_columns);
    zt__free(&allocator, profiler->columns);
    zt__free(&allocator, profiler->reports);
    zt__free(&allocator, profiler->unpacked);
    zt__destroy_mutex(&profiler->collector.mutex);
    zt__destroy_mutex(&profiler->mutex);
    zt__free(&allocator, profiler);
}

ZT__PRIVATE int zt__register_profiler(zt_profiler *profiler) {
    zt__process *process = zt__get_process();
    uint32_t i;
    if (!process) {
        return 0;
    }
    zt__lock(&process->mutex);
    for (i = 0; i < ZT__MAX_PROFILERS && zt__load(&process->profilers[i]);) {
        i++;
    }
    if (i < ZT__MAX_PROFILERS) {
        profiler->id = ++process->serial * ZT__MAX_PROFILERS + i;
        zt__store(&process->profiler_ids[i], profiler->id);
        zt__store(&process->profilers[i], profiler);
        if (i >= process->profiler_places) {
            zt__store(&process->profiler_places, i + 1);
        }
    }
    zt__unlock(&process->mutex);
    return i < ZT__MAX_PROFILERS;
}

ZT__PRIVATE int zt__is_registered(const zt_profiler *profiler) {
    zt__process *process = zt__find_process();
    uint32_t i;
    for (i = 0; process && i < ZT__MAX_PROFILERS; i++) {
        if (zt__load(&process->profilers[i]) == profiler) {
            return 1;
        }
    }
    return 0;
}

ZT__PRIVATE zt_profiler *zt__find_profiler(uint32_t id) {
    zt__process *process = zt__find_process();
    uint32_t i = id % ZT__MAX_PROFILERS;
    return process && zt__load(&process->profiler_ids[i]) == id ? zt__load(&process->profilers[i]) : NULL;
}

ZT__PRIVATE void zt__unregister_profiler(zt_profiler *profiler) {
    zt__process *process = zt__find_process();
    uint32_t i = profiler->id % ZT__MAX_PROFILERS;
    if (process && zt__find_profiler(profiler->id) == profiler) {
        zt__store(&process->profilers[i], (zt_profiler *)NULL);
    }
}
