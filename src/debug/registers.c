/* Registers of threads of the device. */

#include "debug/registers.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"
#include "base/text.h"
#include "debug/debugger.h"
#include "debug/events.h"
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

/* The first zt_debug_registers.space. */
enum { ZT__REGISTER_SPACES = ZT_DEBUG_SLM + 1 };

/* Returns the first set that has this type, or NULL. */
static const zt_debug_registers *zt__find_set(const zt_debugger *debugger, uint32_t type) {
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
        (zt_debug_registers *)zt__allocate(&debugger->config.allocator, count, sizeof *debugger->sets);
    if (!debugger->sets) {
        return count ? zt__report_no_memory(&debugger->diagnostics, "zt_debug_open", "register sets")
                     : result;
    }
    for (i = 0; i < count; i++) {
        const zet_debug_regset_properties_t *from = &properties[i];
        zt_debug_registers *set = &debugger->sets[debugger->set_count];
        if (from->count == 0 || from->count > ZT__DEBUG_REGISTERS || from->byteSize == 0 ||
            from->byteSize > ZT__DEBUG_REGISTERS || zt__find_set(debugger, from->type)) {
            continue;
        }
        if (from->type > 0 && from->type < ZT__COUNT_OF(zt__set_names)) {
            snprintf(set->set, sizeof set->set, "%s", zt__set_names[from->type].set);
        } else {
            snprintf(set->set, sizeof set->set, "SET %u", (unsigned)from->type);
        }
        set->space = ZT__REGISTER_SPACES + debugger->set_count;
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

/* Finds a register by its name. Returns 0 if the device has none. */
static int zt__find_register(const zt_debugger *debugger, const char *name, zt_debug_registers *found) {
    const zt_debug_registers *set = NULL;
    uint32_t type, index = 0;
    size_t length;
    int is_numbered = 1;
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
        return 0;
    }
    *found = *set;
    found->address = (uint64_t)index * set->bytes;
    found->count = 1;
    return 1;
}

ZT_API ze_result_t zt_debug_get_registers(zt_debugger *debugger, const char *name,
                                          zt_debug_registers *registers, uint32_t *count) {
    const char *call = "zt_debug_get_registers";
    zt_debug_registers one;
    uint32_t i, room, found = 0;
    if (!count) {
        return debugger ? zt__report_null(&debugger->diagnostics, call, "count") : ZE_RESULT_SUCCESS;
    }
    room = registers ? *count : 0;
    *count = 0;
    if (!debugger) {
        return ZE_RESULT_SUCCESS;
    }
    for (i = 0; i < debugger->set_count; i++) {
        if (!name || strcmp(debugger->sets[i].set, name) == 0) {
            if (found < room) {
                registers[found] = debugger->sets[i];
            }
            found++;
        }
    }
    if (name && !found && zt__find_register(debugger, name, &one)) {
        if (room > 0) {
            registers[0] = one;
        }
        found = 1;
    }
    if (name && !found) {
        return zt__report(&debugger->diagnostics, NO_REGISTER, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, name);
    }
    *count = found;
    return ZE_RESULT_SUCCESS;
}

ZT__PRIVATE const zt_debug_registers *zt__find_space(zt_debugger *debugger, const char *call, uint32_t space,
                                                     uint64_t address, size_t size, int is_write) {
    const zt_debug_registers *set = space - ZT__REGISTER_SPACES < debugger->set_count
                                        ? &debugger->sets[space - ZT__REGISTER_SPACES]
                                        : NULL;
    if (!set || !(is_write ? set->is_writable : set->is_readable)) {
        zt__report(&debugger->diagnostics, NO_REGISTER, ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                   set ? set->set : "of this space");
        return NULL;
    }
    if (address % set->bytes || size % set->bytes || address / set->bytes > set->count ||
        size / set->bytes > set->count - address / set->bytes) {
        zt__report(&debugger->diagnostics, BAD_REGISTERS, ZE_RESULT_ERROR_INVALID_ARGUMENT, call, set->set,
                   (unsigned)set->count, (unsigned)set->bytes);
        return NULL;
    }
    return set;
}

ZT__PRIVATE ze_result_t zt__access_registers(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                             const zt_debug_registers *set, uint32_t first, uint32_t count,
                                             void *values, int is_write) {
    ze_device_thread_t one = zt__to_device_thread(thread);
    ze_result_t result = is_write
                             ? zetDebugWriteRegisters(debugger->handle, one, set->type, first, count, values)
                             : zetDebugReadRegisters(debugger->handle, one, set->type, first, count, values);
    return zt__check_access(debugger, result, call,
                            is_write ? "zetDebugWriteRegisters" : "zetDebugReadRegisters",
                            "The thread is not stopped. Stop it first, and name one thread.");
}

ZT__PRIVATE ze_result_t zt__read_address(zt_debugger *debugger, const char *call, zt_debug_thread thread,
                                         uint64_t *address) {
    enum { AT = 8, BYTES = 4, MOST = 256 }; /* cr0.2 has the offset from the base */
    const zt_debug_registers *control = zt__find_set(debugger, ZT__REGISTERS_CONTROL),
                             *bases = zt__find_set(debugger, ZT__REGISTERS_BASE);
    uint8_t bytes[MOST] = {0};
    uint64_t base = 0;
    uint32_t offset = 0, first, count;
    ze_result_t result;
    *address = 0;
    if (!control || !bases || !control->is_readable || !bases->is_readable ||
        (uint64_t)control->bytes * control->count < AT + BYTES || bases->count <= ZT__INSTRUCTION_BASE ||
        control->bytes > MOST || bases->bytes < sizeof base || bases->bytes > MOST) {
        return ZE_RESULT_SUCCESS;
    }
    first = AT / control->bytes;
    count = (AT + BYTES - 1) / control->bytes - first + 1;
    result = zt__access_registers(debugger, call, thread, control, first, count, bytes, 0);
    memcpy(&offset, bytes + (AT - first * control->bytes), sizeof offset);
    if (result == ZE_RESULT_SUCCESS) {
        result = zt__access_registers(debugger, call, thread, bases, ZT__INSTRUCTION_BASE, 1, bytes, 0);
        memcpy(&base, bytes, sizeof base);
    }
    if (result == ZE_RESULT_SUCCESS) {
        *address = base + offset;
    }
    return result;
}

#endif
