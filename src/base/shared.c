/* The block that all copies of this header in a process share. */

#include "base/shared.h"

#include "base/compiler.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/threads.h"

#define ZT__PROCESS_VARIABLE "ZETOOLS_PROCESS_9"

static zt__process *zt__known_process; /* atomic */

static zt__mutex zt__process_setup = ZT__MUTEX_INITIALIZER; /* held until the block is known */

/* A forked child creates a new block, because a thread of the parent may hold the mutex of the old one. None
   of the parent's threads is in the child. */
static void zt__after_fork(void) {
    zt__store(&zt__known_process, (zt__process *)NULL);
    zt__thread_number = 0;
    zt__create_mutex(&zt__process_setup);
    zt__create_mutex(&zt__threads.mutex);
    zt__threads.first = NULL;
}

typedef struct zt__process_identity {
    char text[64];
} zt__process_identity;

static zt__process_identity zt__identify_process(void) {
    zt__process_identity identity;
    uint8_t program[16];
    zt__read_program_bytes(program);
    snprintf(identity.text, sizeof identity.text, "%ld.%016llx.", zt__get_process_id(),
             (unsigned long long)zt__hash(program, sizeof program));
    return identity;
}

/* Returns the block at the address in the variable, or NULL if the variable is of another process. */
static zt__process *zt__read_process_variable(void) {
    zt__process_identity identity = zt__identify_process();
    char value[128];
    size_t length = strlen(identity.text);
    void *address = NULL;
    if (!zt__read_variable(ZT__PROCESS_VARIABLE, value, sizeof value) ||
        strncmp(value, identity.text, length) != 0 || sscanf(value + length, "%p", &address) != 1) {
        return NULL;
    }
    return (zt__process *)address;
}

ZT__PRIVATE zt__process *zt__find_process(void) {
    zt__process *process = zt__load(&zt__known_process);
    return process ? process : zt__read_process_variable();
}

ZT__PRIVATE zt__process *zt__get_process(void) {
    static uint32_t handles_fork; /* atomic */
    zt__process_identity identity;
    char value[128], inherited[1];
    zt__process *created = NULL, *process = zt__load(&zt__known_process);
    int has_keys;
    if (process) {
        return process;
    }
    if (zt__change_if(&handles_fork, 0, 1)) {
        zt__call_after_fork(zt__after_fork);
    }
    zt__lock(&zt__process_setup);
    process = zt__find_process();
    if (!process) {
        created = (zt__process *)calloc(1, sizeof *created);
    }

    /* The first copy creates the block. */
    has_keys = created && zt__create_key(&created->depth);
    if (has_keys && !zt__create_key(&created->phase_stack)) {
        zt__delete_key(created->depth);
        has_keys = 0;
    }
    if (has_keys) {
        zt__create_mutex(&created->mutex);
        /* The profilers of a forked child have other numbers than those of its parent, so regions that the
           parent has begun are ignored. */
        created->serial = (uint32_t)zt__get_process_id() * 2654435761u;
        identity = zt__identify_process();
        snprintf(value, sizeof value, "%s%p", identity.text, (void *)created);
        if (zt__read_variable(ZT__PROCESS_VARIABLE, inherited, sizeof inherited) &&
            !zt__read_process_variable()) {
            zt__set_variable(ZT__PROCESS_VARIABLE, value, 1); /* it was inherited from another process */
        }
        zt__set_variable(ZT__PROCESS_VARIABLE, value, 0); /* has no effect if another copy has just set it */
        process = zt__read_process_variable();
    }
    if (created != process) {
        if (has_keys) {
            zt__destroy_mutex(&created->mutex);
            zt__delete_key(created->depth);
            zt__delete_key(created->phase_stack);
        }
        free(created);
    }
    zt__store(&zt__known_process, process);
    zt__unlock(&zt__process_setup);
    return process;
}

ZT__PRIVATE int zt__is_paused(uint32_t what) {
    const zt__process *process = zt__find_process();
    return process && (zt__load(&process->paused) & what);
}

/* ---- internal driver calls ------------------------------------------------------------------------------- */

ZT__PRIVATE uintptr_t zt__get_depth(void) {
    zt__process *process = zt__find_process();
    return process ? (uintptr_t)zt__get_thread_value(process->depth) : 0;
}

ZT__PRIVATE void zt__change_depth(int by) {
    zt__process *process = zt__get_process();
    if (process) {
        uintptr_t depth = (uintptr_t)zt__get_thread_value(process->depth);
        if (by > 0 || depth > 0) { /* without memory, its begin was not counted */
            zt__set_thread_value(process->depth, (void *)(depth + (uintptr_t)(intptr_t)by));
        }
    }
}
