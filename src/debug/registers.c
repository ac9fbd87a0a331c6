/* Registers of threads of the device. */

#include "debug/registers.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/text.h"
#include "debug/debugger.h"
#include "debug/events.h"
#include "debug/stopping.h"
#include "debug/threads.h"

#ifdef ZETOOLS_DEBUG

/* Types of sets, as Intel's drivers number them (zet_intel_gpu_debug.h). */
enum { ZT__REGISTERS_CONTROL = 6, ZT__REGISTERS_BASE = 11 };

/* The names of sets by their types, and of their registers: a prefix, and the number if there are several. */
static const struct {
    const char *set, *prefix;
} zt__set_names[] = {
    {"", ""},       {"GRF", "r"},   {"ADDR", "a"},  {"FLAG", "f"}, {"CE", "ce"}, {"SR", "sr"},   {"CR", "cr"},
    {"TDR", "tdr"}, {"ACC", "acc"}, {"MME", "mme"}, {"SP", "sp"},  {"SBA", ""},  {"DBG", "dbg"}, {"FC", "fc"},
};

/* The registers of SBA, from the first. That of instructions is the fifth. */
static const char *const zt__base_names[] = {"genstbase",  "sustbase",   "dynbase", "iobase", "isabase",
                                             "blsustbase", "blsastbase", "btbase",  "scrbase"};

enum { ZT__INSTRUCTION_BASE = 4 };

/* Returns the first set that has this type, or NULL. */
static const zt_debug_register_set *zt__find_set(const zt_debugger *debugger, uint32_t type) {
    uint32_t i;
    for (i = 0; i < debugger->set_count; i++) {
        if (debugger->sets[i].type == type) {
            return &debugger->sets[i];
        }
    }
    return NULL;
}

ZT__PRIVATE ze_result_t zt__load_register_sets(zt_debugger *debugger) {
    const char *call = "zetDebugGetRegisterSetProperties";
    zet_device_handle_t device = (zet_device_handle_t)debugger->device;
    zet_debug_regset_properties_t properties[ZT__DEBUG_SETS];
    uint32_t i, count = 0;
    ze_result_t result = zetDebugGetRegisterSetProperties(device, &count, NULL);
    if (result != ZE_RESULT_SUCCESS || count == 0) {
        return zt__check_debug(debugger, result, call);
    }
    count = count < ZT__COUNT_OF(properties) ? count : ZT__COUNT_OF(properties);
    memset(properties, 0, sizeof properties);
    for (i = 0; i < count; i++) {
        properties[i].stype = ZET_STRUCTURE_TYPE_DEBUG_REGSET_PROPERTIES;
    }
    result = zetDebugGetRegisterSetProperties(device, &count, properties);
    if (result != ZE_RESULT_SUCCESS) {
        return zt__check_debug(debugger, result, call);
    }
    count = count < ZT__COUNT_OF(properties) ? count : ZT__COUNT_OF(properties);
    debugger->sets =
        (zt_debug_register_set *)zt__allocate(&debugger->config.allocator, count, sizeof *debugger->sets);
    if (!debugger->sets) {
        return count ? zt__report_no_memory(&debugger->diagnostics, "zt_debug_open", "register sets")
                     : result;
    }
    for (i = 0; i < count; i++) {
        const zet_debug_regset_properties_t *from = &properties[i];
        zt_debug_register_set *set = &debugger->sets[debugger->set_count];
        if (from->count == 0 || from->count > ZT__DEBUG_REGISTERS || from->byteSize == 0 ||
            from->byteSize > ZT__DEBUG_REGISTERS || zt__find_set(debugger, from->type)) {
            continue;
        }
        if (from->type > 0 && from->type < ZT__COUNT_OF(zt__set_names)) {
            snprintf(set->name, sizeof set->name, "%s", zt__set_names[from->type].set);
        } else {
            snprintf(set->name, sizeof set->name, "SET %u", (unsigned)from->type);
        }
        set->type = from->type;
        set->version = from->version;
        set->is_readable = (from->generalFlags & ZET_DEBUG_REGSET_FLAG_READABLE) != 0;
        set->is_writable = (from->generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE) != 0;
        set->count = from->count;
        set->bits = from->bitSize;
        set->bytes = from->byteSize;
        debugger->set_count++;
    }
    return result;
}

ZT_API uint32_t zt_debug_get_register_set_count(const zt_debugger *debugger) {
    return debugger ? debugger->set_count : 0;
}

ZT_API const zt_debug_register_set *zt_debug_get_register_set(const zt_debugger *debugger, uint32_t index) {
    return debugger && index < debugger->set_count ? &debugger->sets[index] : NULL;
}

ZT_API ze_result_t zt_debug_find_register(zt_debugger *debugger, const char *name, zt_debug_register *found) {
    const char *call = "zt_debug_find_register";
    const zt_debug_register_set *set = NULL;
    uint32_t type, index = 0;
    size_t length;
    int is_numbered = 1;
    if (found) {
        memset(found, 0, sizeof *found);
        found->set = "";
    }
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    if (!name || !found) {
        return zt__report_null(&debugger->diagnostics, call, name ? "found" : "name");
    }
    while (index < ZT__COUNT_OF(zt__base_names) && strcmp(name, zt__base_names[index]) != 0) {
        index++;
    }
    if (index < ZT__COUNT_OF(zt__base_names)) {
        set = zt__find_set(debugger, ZT__REGISTERS_BASE);
    } else { /* the prefix of a set, and a number, which may be left out if there is one register */
        length = strcspn(name, "0123456789");
        for (type = 1; type < ZT__COUNT_OF(zt__set_names) && !set; type++) {
            if (length > 0 && zt__equals(zt__set_names[type].prefix, name, length)) {
                set = zt__find_set(debugger, type);
            }
        }
        is_numbered = name[length] != 0;
        for (index = 0; name[length] >= '0' && name[length] <= '9' && index < ZT__DEBUG_REGISTERS; length++) {
            index = index * 10 + (uint32_t)(name[length] - '0');
        }
        set = name[length] == 0 ? set : NULL;
    }
    if (!set || index >= set->count || (!is_numbered && set->count > 1)) {
        return zt__report(&debugger->diagnostics, NO_REGISTER, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name);
    }
    found->set = set->name;
    found->index = index;
    found->bytes = set->bytes;
    return ZE_RESULT_SUCCESS;
}

/* Reads or writes registers, which the caller has checked. `session` is held, and its events are read. */
static ze_result_t zt__access_set(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                  const zt_debug_register_set *set, uint32_t first, uint32_t count,
                                  void *values, int is_write) {
    ze_device_thread_t one = zt__to_device_thread(thread);
    ze_result_t result = is_write
                             ? zetDebugWriteRegisters(debugger->handle, one, set->type, first, count, values)
                             : zetDebugReadRegisters(debugger->handle, one, set->type, first, count, values);
    return zt__check_access(debugger, result, call,
                            is_write ? "zetDebugWriteRegisters" : "zetDebugReadRegisters",
                            "The thread is not stopped. Stop it first, and name one thread.");
}

/* As zt_debug_read_registers or, with `is_write`, zt_debug_write_registers. */
static ze_result_t zt__access_registers(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                        const char *name, uint32_t first, uint32_t count, void *values,
                                        size_t size, int is_write) {
    const zt_debug_register_set *set = NULL;
    ze_result_t result;
    uint32_t i;
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    if (!name || !values) {
        return zt__report_null(&debugger->diagnostics, call, name ? "values" : "set");
    }
    for (i = 0; i < debugger->set_count && !set; i++) {
        set = strcmp(debugger->sets[i].name, name) == 0 ? &debugger->sets[i] : NULL;
    }
    if (!set || !(is_write ? set->is_writable : set->is_readable)) {
        return zt__report(&debugger->diagnostics, NO_REGISTER, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name);
    }
    if (first >= set->count || count > set->count - first) {
        return zt__report(&debugger->diagnostics, BAD_REGISTERS, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name,
                          (unsigned)set->count);
    }
    if (size / set->bytes < count) {
        return zt__report(&debugger->diagnostics, SMALL_BUFFER, ZE_RESULT_ERROR_INVALID_SIZE, call,
                          (unsigned)count, name, (unsigned)set->bytes);
    }
    result = count ? zt__begin_session_call(debugger, call) : ZE_RESULT_SUCCESS;
    if (result != ZE_RESULT_SUCCESS || count == 0) {
        return result;
    }
    result = zt__read_events(debugger, call);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__access_set(debugger, call, thread, set, first, count, values, is_write);
    }
    zt__end_session_call(debugger);
    return result;
}

ZT_API ze_result_t zt_debug_read_registers(zt_debugger *debugger, zt_debug_thread thread, const char *set,
                                           uint32_t first, uint32_t count, void *values, size_t size) {
    return zt__access_registers(debugger, "zt_debug_read_registers", thread, set, first, count, values, size,
                                0);
}

ZT_API ze_result_t zt_debug_write_registers(zt_debugger *debugger, zt_debug_thread thread, const char *set,
                                            uint32_t first, uint32_t count, const void *values, size_t size) {
    return zt__access_registers(debugger, "zt_debug_write_registers", thread, set, first, count,
                                (void *)(uintptr_t)values, size, 1);
}

ZT_API ze_result_t zt_debug_get_address(zt_debugger *debugger, zt_debug_thread thread, uint64_t *address) {
    enum { AT = 8, BYTES = 4, MOST = 256 }; /* cr0.2 has the offset from the base */
    const char *call = "zt_debug_get_address";
    const zt_debug_register_set *control, *bases;
    uint8_t bytes[MOST] = {0};
    uint64_t base = 0;
    uint32_t offset = 0, first, count;
    ze_result_t result;
    if (address) {
        *address = 0;
    }
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    if (!address) {
        return zt__report_null(&debugger->diagnostics, call, "address");
    }
    control = zt__find_set(debugger, ZT__REGISTERS_CONTROL);
    bases = zt__find_set(debugger, ZT__REGISTERS_BASE);
    if (!control || !bases || !control->is_readable || !bases->is_readable ||
        (uint64_t)control->bytes * control->count < AT + BYTES || bases->count <= ZT__INSTRUCTION_BASE ||
        control->bytes > MOST || bases->bytes < sizeof base || bases->bytes > MOST) {
        return zt__report(&debugger->diagnostics, NO_REGISTER, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call,
                          "cr0.2 or isabase");
    }
    result = zt__begin_session_call(debugger, call);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    first = AT / control->bytes;
    count = (AT + BYTES - 1) / control->bytes - first + 1;
    result = zt__read_events(debugger, call);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__access_set(debugger, call, thread, control, first, count, bytes, 0);
        memcpy(&offset, bytes + (AT - first * control->bytes), sizeof offset);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__access_set(debugger, call, thread, bases, ZT__INSTRUCTION_BASE, 1, bytes, 0);
        memcpy(&base, bytes, sizeof base);
    }
    zt__end_session_call(debugger);
    if (result == ZE_RESULT_SUCCESS) {
        *address = base + offset;
    }
    return result;
}

#endif
