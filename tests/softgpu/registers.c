/* Registers of stopped threads. They are the processor's, in sets that have the types of Intel's GPUs where
 * there is one for what they are. An instruction's address is, as there, the sum of a base and 32 bits in CR.
 */
#define _GNU_SOURCE /* REG_RIP */
#include "signals.h"
#include "stop.h"

#include <string.h>
#include <ucontext.h>

enum { INSTRUCTION_BASE = 4, BASES = 9, IP_IN_CONTROL = 2 };

#if defined(__x86_64__)
enum { GENERAL = 16, VECTORS = 16 };
typedef greg_t word;
#elif defined(__i386__)
enum { GENERAL = 8, VECTORS = 0 };
typedef greg_t word;
#elif defined(__aarch64__)
enum { GENERAL = 32, VECTORS = 0 };
typedef unsigned long long word;
#else /* nobody knows its registers */
enum { GENERAL = 1, VECTORS = 0 };
#define NO_REGISTERS
typedef uint64_t word;
static word unknown;
#endif

static const zet_debug_regset_properties_t sets[] = {
#define SET(set, may, number, bytes)                                                                         \
    { .type = set, .generalFlags = may, .count = number, .bitSize = 8 * (bytes), .byteSize = (bytes) }
#define READ ZET_DEBUG_REGSET_FLAG_READABLE
#define READ_AND_WRITE (ZET_DEBUG_REGSET_FLAG_READABLE | ZET_DEBUG_REGSET_FLAG_WRITEABLE)
#ifndef NO_REGISTERS
    SET(SOFTGPU_GENERAL_REGISTERS, READ_AND_WRITE, GENERAL, sizeof(word)),
    SET(SOFTGPU_FLAG_REGISTERS, READ_AND_WRITE, 1, sizeof(word)),
    SET(SOFTGPU_CONTROL_REGISTERS, READ_AND_WRITE, 1, 16),
#endif
#if defined(__x86_64__)
    SET(SOFTGPU_VECTOR_REGISTERS, READ_AND_WRITE, VECTORS, 16),
#endif
    SET(SOFTGPU_BASE_REGISTERS, READ, BASES, 8),
};

enum { SETS = sizeof sets / sizeof *sets, MOST_SETS = 100, MOST_BYTES = 512 };

/* What softgpu_list_registers() has listed. */
static zet_debug_regset_properties_t listed[MOST_SETS];
static _Atomic uint32_t listed_count;
static _Atomic bool has_listed;

int softgpu_list_registers(const softgpu_register_set *given, uint32_t count) {
    if (count > MOST_SETS)
        return 0;
    for (uint32_t i = 0; i < count; ++i)
        listed[i] = (zet_debug_regset_properties_t){.type = given[i].type,
                                                    .generalFlags = given[i].flags,
                                                    .count = given[i].count,
                                                    .bitSize = given[i].bytes * 8,
                                                    .byteSize = given[i].bytes};
    atomic_store(&listed_count, count);
    atomic_store(&has_listed, given != NULL);
    return 1;
}

static word *general_at(ucontext_t *of, uint32_t index) {
#if defined(__x86_64__)
    static const int places[GENERAL] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                        REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                        REG_R12, REG_R13, REG_R14, REG_R15};
    return &of->uc_mcontext.gregs[places[index]];
#elif defined(__i386__)
    static const int places[GENERAL] = {REG_EAX, REG_ECX, REG_EDX, REG_EBX,
                                        REG_ESP, REG_EBP, REG_ESI, REG_EDI};
    return &of->uc_mcontext.gregs[places[index]];
#elif defined(__aarch64__)
    return index < GENERAL - 1 ? &of->uc_mcontext.regs[index] : &of->uc_mcontext.sp;
#else
    (void)of;
    (void)index;
    return &unknown;
#endif
}

static word *flags_in(ucontext_t *of) {
#if defined(__x86_64__) || defined(__i386__)
    return &of->uc_mcontext.gregs[REG_EFL];
#elif defined(__aarch64__)
    return &of->uc_mcontext.pstate;
#else
    (void)of;
    return &unknown;
#endif
}

static word *address_in(ucontext_t *of) {
#if defined(__x86_64__)
    return &of->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return &of->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return &of->uc_mcontext.pc;
#else
    (void)of;
    return &unknown;
#endif
}

static uint64_t base_of(ucontext_t *of) {
    return (uint64_t)(uintptr_t)*address_in(of) & ~(uint64_t)UINT32_MAX;
}

/* What is read or written in place; NULL: it is not a part of the context. */
static void *place_of(ucontext_t *of, uint32_t type, uint32_t index) {
    switch (type) {
    case SOFTGPU_GENERAL_REGISTERS:
        return general_at(of, index);
    case SOFTGPU_FLAG_REGISTERS:
        return flags_in(of);
#if defined(__x86_64__)
    case SOFTGPU_VECTOR_REGISTERS:
        return of->uc_mcontext.fpregs->_xmm[index].element;
#endif
    default:
        return NULL;
    }
}

/* The thread's stack is nobody's who could tell ThreadSanitizer so. */
SG_NOT_SANITIZED static void copy_bytes(void *to, const void *from, size_t size) {
    volatile uint8_t *bytes = to;
    for (size_t i = 0; i < size; ++i)
        bytes[i] = ((const uint8_t *)from)[i];
}

SG_NOT_SANITIZED static void access_register(ucontext_t *of, const zet_debug_regset_properties_t *set,
                                             uint32_t index, uint8_t *value, bool is_write) {
    void *place = place_of(of, set->type, index);
    uint32_t control[4] = {0};
    if (place) {
        copy_bytes(is_write ? place : value, is_write ? value : place, set->byteSize);
    } else if (set->type == SOFTGPU_BASE_REGISTERS) {
        uint64_t base = index == INSTRUCTION_BASE ? base_of(of) : 0;
        copy_bytes(value, &base, sizeof base);
    } else if (is_write) {
        copy_bytes(control, value, sizeof control);
        *address_in(of) = (word)(base_of(of) | control[IP_IN_CONTROL]);
    } else {
        control[IP_IN_CONTROL] = (uint32_t)*address_in(of);
        copy_bytes(value, control, sizeof control);
    }
}

static const zet_debug_regset_properties_t *find_set(const zet_debug_regset_properties_t *all, uint32_t count,
                                                     uint32_t type) {
    for (uint32_t i = 0; i < count; ++i)
        if (all[i].type == type)
            return &all[i];
    return NULL;
}

ze_result_t sg_registers_check(uint32_t type, uint32_t start, uint32_t count, bool is_write, size_t *bytes) {
    const bool others = atomic_load(&has_listed);
    const zet_debug_regset_properties_t *set =
        others ? find_set(listed, atomic_load(&listed_count), type) : find_set(sets, SETS, type);
    if (!set || start >= set->count || count > set->count - start || (is_write && others) ||
        (is_write && !(set->generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE)))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *bytes = (size_t)count * set->byteSize;
    return ZE_RESULT_SUCCESS;
}

/* As the test has listed the set. */
static void read_listed(sg_engine_thread *engine, const zet_debug_regset_properties_t *own, uint32_t type,
                        uint32_t start, uint32_t count, uint8_t *values) {
    const uint32_t bytes = find_set(listed, atomic_load(&listed_count), type)->byteSize;
    uint8_t all[MOST_BYTES] = {0};
    for (uint32_t i = 0; own && i < own->count; ++i)
        access_register(engine->stop.context, own, i, all + (size_t)i * own->byteSize, false);
    for (size_t i = 0; i < (size_t)count * bytes; ++i) {
        size_t place = (size_t)start * bytes + i;
        values[i] = place < sizeof all ? all[place] : 0;
    }
}

void sg_registers_access(sg_engine_thread *engine, uint32_t type, uint32_t start, uint32_t count,
                         uint8_t *values, bool is_write) {
    const zet_debug_regset_properties_t *own = find_set(sets, SETS, type);
    if (atomic_load(&has_listed)) {
        read_listed(engine, own, type, start, count, values);
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
        access_register(engine->stop.context, own, start + i, values + (size_t)i * own->byteSize, is_write);
}

ze_result_t sg_zetDebugGetRegisterSetProperties(zet_device_handle_t device, uint32_t *count,
                                                zet_debug_regset_properties_t *properties) {
    SG_NEED_HANDLE(sg_device_of(device));
    SG_NEED_POINTER(count);
    const bool others = atomic_load(&has_listed);
    uint32_t given = sg_clamp_count(count, others ? atomic_load(&listed_count) : SETS);
    for (uint32_t i = 0; i < given && properties; ++i) {
        zet_debug_regset_properties_t answer = others ? listed[i] : sets[i];
        answer.stype = properties[i].stype;
        answer.pNext = properties[i].pNext;
        properties[i] = answer;
    }
    return ZE_RESULT_SUCCESS;
}
