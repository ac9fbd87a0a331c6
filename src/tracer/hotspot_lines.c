/* Hot spots: their source lines. */

#include "tracer/hotspot_lines.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"
#include "modules/elf.h"
#include "modules/lines.h"
#include "regions/profiler.h"
#include "tracer/hotspots.h"
#include "tracer/sampled_kernels.h"
#include "tracer/sampling.h"

#ifdef ZETOOLS_TRACER

/* The instructions of a module whose lines are looked up. */
typedef struct zt__spot_lines {
    zt__hotspots *hotspots;
    zt__spot **spots;
} zt__spot_lines;

/* Stores the line of an instruction. There is one copy of the name of each file, which lives as long as the
   profiler. */
static int zt__store_line(void *user, uint32_t index, const char *name, size_t length, uint32_t line) {
    zt__spot_lines *lines = (zt__spot_lines *)user;
    zt__hotspots *hotspots = lines->hotspots;
    zt__spot *spot = lines->spots[index];
    const char *file = NULL;
    char *made = (char *)zt__allocate(&hotspots->allocator, length + 1, 1);
    zt__lock(&hotspots->mutex);
    if (made && zt__map_make_room(&hotspots->files, &hotspots->allocator, &hotspots->mutex)) {
        zt__copy_text(made, length + 1, name, length);
        file = (const char *)zt__map_find(&hotspots->files, made, length);
        if (!file) {
            zt__map_add(&hotspots->files, made, length, made);
            file = made;
            made = NULL;
        }
    }
    if (file) {
        spot->file = file;
        spot->line = line;
    }
    zt__unlock(&hotspots->mutex);
    zt__free(&hotspots->allocator, made);
    return file != NULL;
}

/* Finds the lines of the instructions of a module that were not looked up yet. `finding` is held. Returns 0
   without memory. */
static int zt__find_lines_of_module(zt__hotspots *hotspots, const zt__sampled_module *module) {
    zt__spot_lines lines = {hotspots, NULL};
    zt__line_search search = {NULL, 0, 0, 0, zt__store_line, &lines};
    uint64_t *addresses;
    zt__sampled_kernel *kernel;
    uint32_t i, room;
    zt__code code;
    zt__elf elf;
    int is_elf, has_run, of_device;
    zt__lock(&hotspots->mutex);
    room = hotspots->spot_count; /* the module has samples */
    zt__unlock(&hotspots->mutex);
    lines.spots = (zt__spot **)zt__allocate(&hotspots->allocator, room, sizeof *lines.spots);
    addresses = (uint64_t *)zt__allocate(&hotspots->allocator, room, sizeof *addresses);
    if (!lines.spots || !addresses) {
        zt__free(&hotspots->allocator, (void *)lines.spots);
        zt__free(&hotspots->allocator, addresses);
        return 0;
    }
    search.addresses = addresses;
    zt__lock(&hotspots->mutex);
    for (i = 0; i < room; i++) {
        zt__spot *spot = hotspots->spots[i];
        if (spot->key.kernel->module == module && !spot->is_looked_up) {
            lines.spots[search.count++] = spot;
        }
    }
    kernel = hotspots->kernels;
    zt__unlock(&hotspots->mutex);
    if (search.count > 0) {
        is_elf = zt__open_elf(module->debug, module->debug_size, &elf);
        for (; kernel && is_elf; kernel = kernel->next) { /* new ones are added before the first */
            int is_of_module;
            zt__lock(&hotspots->mutex);
            is_of_module = kernel->module == module;
            zt__unlock(&hotspots->mutex);
            if (is_of_module && kernel->debug_address == UINT64_MAX &&
                !zt__find_in_elf(&elf, kernel->name, &kernel->code, &kernel->debug_address, &code)) {
                kernel->debug_address = UINT64_MAX;
            }
        }
        /* The debug information has addresses in its file or, as some drivers write it, those of the device.
         */
        for (of_device = 0, has_run = 1; of_device < 2 && has_run && search.found == 0; of_device++) {
            for (i = 0; i < search.count; i++) {
                const zt__spot_key *key = &lines.spots[i]->key;
                uint64_t address = of_device ? key->kernel->base : key->kernel->debug_address;
                addresses[i] = address == UINT64_MAX ? address : address + key->offset;
            }
            has_run = zt__search_lines(&search, module->debug, module->debug_size);
        }
        zt__lock(&hotspots->mutex);
        hotspots->lacks_tool = !has_run;
        hotspots->lacks_lines |= has_run && search.found == 0;
        for (i = 0; i < search.count && has_run; i++) {
            lines.spots[i]->is_looked_up = 1;
        }
        zt__unlock(&hotspots->mutex);
    }
    zt__free(&hotspots->allocator, (void *)lines.spots);
    zt__free(&hotspots->allocator, addresses);
    return 1;
}

ZT__PRIVATE ze_result_t zt__find_hotspot_lines(zt_profiler *profiler, const char *call, uint64_t deadline) {
    zt__hotspots *hotspots = zt__hotspots_of(profiler);
    zt__sampled_module *module;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!hotspots) {
        return result;
    }
    if (zt__begin_reading(hotspots)) { /* else all modules are read already */
        zt__read_samples(hotspots);
        zt__keep_debug_info(hotspots, NULL, 0);
        zt__unlock_timed(&hotspots->reading);
    }
    if (!zt__lock_until(&hotspots->finding, deadline)) {
        return ZE_RESULT_NOT_READY;
    }
    zt__lock(&hotspots->mutex);
    module = hotspots->modules;
    zt__unlock(&hotspots->mutex);
    for (; module && result == ZE_RESULT_SUCCESS; module = module->next) {
        int has_debug;
        zt__lock(&hotspots->mutex);
        has_debug = module->debug != NULL; /* it stays until zt_close */
        zt__unlock(&hotspots->mutex);
        if (has_debug && !zt__find_lines_of_module(hotspots, module)) {
            result = zt__report_no_memory(&profiler->diagnostics, call, "source lines");
        }
    }
    zt__unlock_timed(&hotspots->finding);
    return result;
}

#endif
