/* Where threads are: kernel, offset, source line. */

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"
#include "debug/debugger.h"
#include "debug/events.h"
#include "modules/elf.h"
#include "modules/lines.h"

#ifdef ZETOOLS_DEBUG

/* Returns the one copy of a text, which lives as long as the debugger; "" without memory. `session` may be
   held. */
static const char *zt__keep_debug_text(zt_debugger *debugger, const char *text) {
    const zt_allocator *allocator = &debugger->config.allocator;
    size_t length = strlen(text);
    const char *kept = NULL;
    char *made = zt__duplicate_text(allocator, text);
    zt__lock(&debugger->mutex);
    if (made && zt__map_make_room(&debugger->texts, allocator, &debugger->mutex)) {
        kept = (const char *)zt__map_find(&debugger->texts, text, length);
        if (!kept) {
            zt__map_add(&debugger->texts, made, length, made);
            kept = made;
            made = NULL;
        }
    }
    zt__unlock(&debugger->mutex);
    zt__free(allocator, made);
    return kept ? kept : "";
}

/* Finds the module of an address, and a kernel there: of those that are loaded, else of those that were. The
   newest comes first. `session` is held. */
static zt__debug_module *zt__find_module_at(zt_debugger *debugger, uint64_t address, zt__function *found,
                                            uint64_t *in_file) {
    zt__debug_module *module;
    zt__elf elf;
    int is_unloaded;
    for (is_unloaded = 0; is_unloaded < 2; is_unloaded++) {
        for (module = debugger->modules; module; module = module->next) {
            const uint64_t load = module->place.load;
            if (module->is_unloaded != is_unloaded || !zt__open_elf(module->bytes, module->size, &elf)) {
                continue;
            }
            /* The file has the addresses of the device, or those from where it is loaded. */
            *in_file = address;
            if (zt__find_function_at(&elf, address, found)) {
                return module;
            }
            *in_file = address - load;
            if (load && zt__find_function_at(&elf, *in_file, found)) {
                return module;
            }
        }
    }
    return NULL;
}

/* A place whose source line is looked up. */
typedef struct zt__place_line {
    zt_debugger *debugger;
    zt_debug_place *place;
} zt__place_line;

/* Stores the line of the one place. */
static int zt__store_place_line(void *user, uint32_t index, const char *name, size_t length, uint32_t line) {
    zt__place_line *found = (zt__place_line *)user;
    char file[4096];
    (void)index;
    zt__copy_text(file, sizeof file, name, length);
    found->place->file = zt__keep_debug_text(found->debugger, file);
    found->place->line = *found->place->file ? line : 0;
    return *found->place->file != 0;
}

ZT_API ze_result_t zt_debug_where(zt_debugger *debugger, uint64_t address, zt_debug_place *place) {
    const char *call = "zt_debug_where";
    zt__debug_module *module;
    zt__function function;
    zt__known_line *known;
    uint64_t in_file;
    uint32_t i = 0;
    ze_result_t result;
    if (place) {
        memset(place, 0, sizeof *place);
        place->kernel = place->file = "";
    }
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    if (!place) {
        return zt__report_null(&debugger->diagnostics, call, "place");
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    while (zt__read_event(debugger, call, 0) == ZE_RESULT_SUCCESS) {
    }
    module = zt__find_module_at(debugger, address, &function, &in_file);
    if (module) {
        place->kernel = zt__keep_debug_text(debugger, function.name);
        place->offset = in_file - function.address;
        place->size = function.size;
        place->is_unloaded = module->is_unloaded;
        if (!*place->kernel) {
            result = zt__report_no_memory(&debugger->diagnostics, call, "a name");
        }
    } else {
        result = zt__report(&debugger->diagnostics, NO_KERNEL_THERE, ZE_RESULT_ERROR_NOT_AVAILABLE,
                            (unsigned long long)address);
    }

    /* Source lines are remembered, because many threads are at the same place. */
    if (result == ZE_RESULT_SUCCESS && !debugger->config.no_lines) {
        known = debugger->lines;
        while (i < ZT__DEBUG_LINES && (known[i].module != module->number || known[i].address != in_file)) {
            i++;
        }
        if (i < ZT__DEBUG_LINES) {
            place->file = known[i].file;
            place->line = known[i].line;
        } else {
            zt__place_line found = {debugger, place};
            zt__line_search search = {&in_file, 1, 0, 0, zt__store_place_line, &found};
            module->users++; /* keeps the module while a program runs and the session is not locked */
            zt__unlock_timed(&debugger->session);
            zt__search_lines(&search, module->bytes, module->size);
            zt__lock_session(debugger, UINT64_MAX);
            module->users--;
            known = &debugger->lines[debugger->line_count++ % ZT__DEBUG_LINES];
            known->module = module->number;
            known->address = in_file;
            known->file = place->file;
            known->line = place->line;
        }
    }
    zt__end_session_call(debugger);
    return result;
}

#endif
