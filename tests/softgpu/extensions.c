/* Functions that zeDriverGetExtensionFunctionAddress gives and no loader has, beside those that belong to what they are
   about. */
#include "work.h"

#include <sched.h>
#include <string.h>

/* Launches a kernel with the numbers of groups that a variable has: here, that is memory of the host. */
ze_result_t sg_zexCommandListAppendVariableLaunchKernel(ze_command_list_handle_t list,
                                                        ze_kernel_handle_t kernel, const void *variable,
                                                        ze_event_handle_t signal, uint32_t wait_count,
                                                        ze_event_handle_t *waits) {
    SG_NEED_POINTER(variable);
    return sg_zeCommandListAppendLaunchKernel(list, kernel, (const ze_group_count_t *)variable, signal,
                                              wait_count, waits);
}

/* An operation that does nothing. */
ze_result_t sg_zexCommandListAppendCustomOperation(ze_command_list_handle_t list, const void *extension,
                                                   ze_event_handle_t signal, uint32_t wait_count,
                                                   ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(extension);
    return sg_list_append(list, &(sg_append){.signal = signal, .wait_count = wait_count, .waits = waits});
}

/* Unlike the loader's function, it has the event to signal last. */
ze_result_t sg_zexCommandListAppendMemoryCopyWithParameters(ze_command_list_handle_t list, void *destination,
                                                            const void *source, size_t size,
                                                            const void *extension, uint32_t wait_count,
                                                            ze_event_handle_t *waits,
                                                            ze_event_handle_t signal) {
    return sg_zeCommandListAppendMemoryCopyWithParameters(list, destination, source, size, extension, signal,
                                                          wait_count, waits);
}

ze_result_t sg_zexCommandListAppendMemoryFillWithParameters(ze_command_list_handle_t list, void *ptr,
                                                            const void *pattern, size_t pattern_size,
                                                            size_t size, const void *extension,
                                                            ze_event_handle_t signal, uint32_t wait_count,
                                                            ze_event_handle_t *waits) {
    return sg_zeCommandListAppendMemoryFillWithParameters(list, ptr, pattern, pattern_size, size, extension,
                                                          signal, wait_count, waits);
}

/* ---- functions of the host ----------------------------------------------------------------------------- */

typedef struct host_function {
    void (*function)(void *);
    void *user;
} host_function;

static void run_host_function(sg_execution *execution, void *argument) {
    const host_function *what = argument;
    (void)execution;
    what->function(what->user);
}

ze_result_t sg_zeCommandListAppendHostFunction(ze_command_list_handle_t list, void (*function)(void *),
                                               void *user, const void *extension, ze_event_handle_t signal,
                                               uint32_t wait_count, ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER((void *)(uintptr_t)function);
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    const host_function what = {function, user};
    return sg_list_append(list, &(sg_append){.run = run_host_function,
                                             .argument = &what,
                                             .size = sizeof what,
                                             .signal = signal,
                                             .wait_count = wait_count,
                                             .waits = waits});
}

/* ---- waits for memory, and writes to it ---------------------------------------------------------------- */

typedef struct memory_action {
    uint32_t comparison; /* one of the flags below */
    size_t size;         /* of the value */
    void *memory;
    uint64_t value;
} memory_action;

enum {
    EQUAL = 1 << 0,
    NOT_EQUAL = 1 << 1,
    GREATER = 1 << 2,
    GREATER_EQUAL = 1 << 3,
    LESS = 1 << 4,
    LESS_EQUAL = 1 << 5
};

static bool is_met(const memory_action *what) {
    uint64_t now = what->size == sizeof(uint32_t)
                       ? __atomic_load_n((uint32_t *)what->memory, __ATOMIC_ACQUIRE)
                       : __atomic_load_n((uint64_t *)what->memory, __ATOMIC_ACQUIRE);
    uint32_t holds = now == what->value  ? EQUAL | GREATER_EQUAL | LESS_EQUAL
                     : now > what->value ? NOT_EQUAL | GREATER | GREATER_EQUAL
                                         : NOT_EQUAL | LESS | LESS_EQUAL;
    return holds & what->comparison;
}

static void run_wait_on_memory(sg_execution *execution, void *argument) {
    (void)execution;
    while (!is_met(argument))
        sched_yield();
}

static ze_result_t append_wait(ze_command_list_handle_t list, const uint32_t *desc,
                               const memory_action *given, ze_event_handle_t signal) {
    memory_action what = *given;
    SG_NEED_HANDLE(sg_list_of(list));
    if (!desc || !desc[0] || desc[0] & (desc[0] - 1) || desc[0] > LESS_EQUAL)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (!sg_memory_holds(what.memory, what.size))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    what.comparison = desc[0];
    return sg_list_append(
        list,
        &(sg_append){.run = run_wait_on_memory, .argument = &what, .size = sizeof what, .signal = signal});
}

ze_result_t sg_zexCommandListAppendWaitOnMemory(ze_command_list_handle_t list, const void *desc, void *memory,
                                                uint32_t value, ze_event_handle_t signal) {
    return append_wait(list, desc, &(memory_action){.size = sizeof value, .memory = memory, .value = value},
                       signal);
}

ze_result_t sg_zexCommandListAppendWaitOnMemory64(ze_command_list_handle_t list, const void *desc,
                                                  void *memory, uint64_t value, ze_event_handle_t signal) {
    return append_wait(list, desc, &(memory_action){.size = sizeof value, .memory = memory, .value = value},
                       signal);
}

static void run_write_to_memory(sg_execution *execution, void *argument) {
    const memory_action *what = argument;
    (void)execution;
    __atomic_store_n((uint64_t *)what->memory, what->value, __ATOMIC_RELEASE);
}

ze_result_t sg_zexCommandListAppendWriteToMemory(ze_command_list_handle_t list, const void *desc,
                                                 void *memory, uint64_t value) {
    const memory_action what = {0, sizeof value, memory, value};
    SG_NEED_HANDLE(sg_list_of(list));
    if (!desc)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (!sg_memory_holds(memory, sizeof value))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    return sg_list_append(list,
                          &(sg_append){.run = run_write_to_memory, .argument = &what, .size = sizeof what});
}
