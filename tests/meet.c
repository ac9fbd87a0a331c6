#include "meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ze_group_count_t one_group = {1, 1, 1};

static void *read_file(const char *name, size_t *size) {
    char path[4096];
    find_file(name, path, sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

rig open_rig(world *w) {
    rig r = {.w = w};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = ZE_MODULE_FORMAT_NATIVE};
    void *bytes = read_file("build/kernels/meet.so", &desc.inputSize), *memory;
    desc.pInputModule = bytes;
    ok(zeModuleCreate(w->context, w->device, &desc, &r.module, NULL));
    free(bytes);
    ok(zeMemAllocHost(w->context, &host, WORDS * sizeof *r.words, 64, &memory));
    r.words = memset(memory, 0, WORDS * sizeof *r.words);
    ok(zeMemAllocHost(w->context, &host, 4 * sizeof *r.stamps, 64, &memory));
    r.stamps = memset(memory, 0, 4 * sizeof *r.stamps);
    return r;
}

/* From here on, lists and queues are made for engines that are concurrent. */
rig open_concurrent(world *w) {
    gpu.behave(SOFTGPU_CONCURRENT_ENGINES, 1);
    return open_rig(w);
}

void close_rig(rig *r) {
    if (r->pool) {
        ok(zeEventDestroy(r->event));
        ok(zeEventPoolDestroy(r->pool));
    }
    ok(zeModuleDestroy(r->module));
    ok(zeMemFree(r->w->context, r->words));
    ok(zeMemFree(r->w->context, r->stamps));
}

uint32_t word(const rig *r, uint32_t index) {
    return __atomic_load_n(&r->words[index], __ATOMIC_SEQ_CST);
}

void set_word(rig *r, uint32_t index) {
    __atomic_store_n(&r->words[index], 1, __ATOMIC_SEQ_CST);
}

void await_word(const rig *r, uint32_t index) {
    for (uint64_t end = now_ns() + A_WHILE; !word(r, index);) {
        assert_true(now_ns() < end);
        nap();
    }
}

ze_kernel_handle_t meeting(rig *r, uint32_t own, uint32_t awaited, uint32_t patience) {
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "meet"};
    ze_kernel_handle_t kernel;
    ok(zeKernelCreate(r->module, &desc, &kernel));
    ok(zeKernelSetGroupSize(kernel, 1, 1, 1));
    ok(zeKernelSetArgumentValue(kernel, 0, sizeof r->words, &r->words));
    ok(zeKernelSetArgumentValue(kernel, 1, sizeof own, &own));
    ok(zeKernelSetArgumentValue(kernel, 2, sizeof awaited, &awaited));
    ok(zeKernelSetArgumentValue(kernel, 3, sizeof patience, &patience));
    return kernel;
}

/* A kernel that writes word `own` and waits for word `awaited`. */
void append_with(rig *r, ze_command_list_handle_t list, uint32_t own, uint32_t awaited, uint32_t patience,
                 ze_event_handle_t signal, ze_event_handle_t wait) {
    ze_kernel_handle_t kernel = meeting(r, own, awaited, patience);
    ok(zeCommandListAppendLaunchKernel(list, kernel, &one_group, signal, wait ? 1 : 0, wait ? &wait : NULL));
    ok(zeKernelDestroy(kernel));
}

void append_meeting(rig *r, ze_command_list_handle_t list, uint32_t own, uint32_t awaited,
                    uint32_t patience) {
    append_with(r, list, own, awaited, patience, NULL, NULL);
}

rig hold_device(world *w) {
    rig held = open_rig(w);
    append_meeting(&held, w->immediate, 0, 1, LONG);
    await_word(&held, 0);
    return held;
}

void let_device_go(rig *held) {
    set_word(held, 1);
    finish_immediate(held->w, held->w->immediate);
    assert_int_equal(word(held, 0), MET);
    close_rig(held);
}

/* A kernel that waits for nobody. */
void append_plain(rig *r, ze_command_list_handle_t list, uint32_t own) {
    append_meeting(r, list, own, own, LONG);
}

ze_command_list_handle_t immediate_on(world *w, ze_device_handle_t device, uint32_t ordinal, uint32_t index,
                                      uint32_t flags) {
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .index = index,
                                    .flags = flags,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    ok(zeCommandListCreateImmediate(w->context, device, &desc, &list));
    return list;
}

ze_command_list_handle_t immediate_of(world *w, uint32_t ordinal, uint32_t index, uint32_t flags) {
    return immediate_on(w, w->device, ordinal, index, flags);
}

ze_command_list_handle_t recorded_of(world *w, uint32_t flags) {
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = flags};
    ze_command_list_handle_t list;
    ok(zeCommandListCreate(w->context, w->device, &desc, &list));
    return list;
}

ze_command_queue_handle_t queue_of(world *w, uint32_t ordinal, uint32_t index) {
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .index = index,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue;
    ok(zeCommandQueueCreate(w->context, w->device, &desc, &queue));
    return queue;
}

void finish_and_destroy(world *w, ze_command_list_handle_t immediate) {
    finish_immediate(w, immediate);
    ok(zeCommandListDestroy(immediate));
}

void execute_once(world *w, ze_command_list_handle_t recorded) {
    ze_command_queue_handle_t queue = queue_of(w, COMPUTE, 0);
    ok(zeCommandListClose(recorded));
    ok(zeCommandQueueExecuteCommandLists(queue, 1, &recorded, NULL));
    ok(zeCommandQueueSynchronize(queue, A_WHILE));
    ok(zeCommandQueueDestroy(queue));
    ok(zeCommandListDestroy(recorded));
}

/* The validation layer of the oldest loaders refuses a flag that it does not know. */
void need_in_order_lists(world *w) {
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = LIST_IN_ORDER};
    ze_command_list_handle_t list;
    ze_result_t result = zeCommandListCreate(w->context, w->device, &desc, &list);
    if (result == ZE_RESULT_ERROR_INVALID_ENUMERATION) {
        puts("skipped: this loader's validation layer does not know lists that are in order");
        skip();
    }
    ok(result);
    ok(zeCommandListDestroy(list));
}

ze_event_handle_t new_event(world *w, uint32_t index) {
    ze_event_handle_t event;
    create_event(w, index, &event);
    return event;
}
