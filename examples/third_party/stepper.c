#include "stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1 << 16, GROUP = 256, GROUPS = ELEMENTS / GROUP };
static const uint64_t timeout_ns = UINT64_C(10000000000);

struct stepper {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t step; /* recorded once, executed for each step */
    ze_command_list_handle_t now;  /* immediate */
    ze_module_handle_t modules[2];
    ze_kernel_handle_t saxpy, reduce;
    float *x, *y, *sums;
};

/* ---- kernels ------------------------------------------------------------------------------------------- */

static ze_module_format_t format_of(ze_device_handle_t device) {
    ze_device_module_properties_t properties;
    memset(&properties, 0, sizeof properties);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
    if (zeDeviceGetModuleProperties(device, &properties) == ZE_RESULT_SUCCESS &&
        properties.spirvVersionSupported)
        return ZE_MODULE_FORMAT_IL_SPIRV;
    return ZE_MODULE_FORMAT_NATIVE;
}

static uint8_t *read_code(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *code = NULL;
    long end = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        end = ftell(file);
    if (end > 0)
        code = (uint8_t *)malloc((size_t)end);
    if (code) {
        rewind(file);
        *size = fread(code, 1, (size_t)end, file);
    }
    if (file)
        fclose(file);
    return code;
}

static int load(stepper *s, const char *kernels, const char *name, ze_module_handle_t *module,
                ze_kernel_handle_t *kernel) {
    ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, format_of(s->device), 0, NULL, "", NULL};
    ze_kernel_desc_t wanted = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    const char *suffix = desc.format == ZE_MODULE_FORMAT_NATIVE ? "so" : "spv";
    char path[1200];
    uint8_t *code;
    int ok;
    snprintf(path, sizeof path, "%s/%s.%s", kernels, name, suffix);
    code = read_code(path, &desc.inputSize);
    desc.pInputModule = code;
    ok = code && zeModuleCreate(s->context, s->device, &desc, module, NULL) == ZE_RESULT_SUCCESS &&
         zeKernelCreate(*module, &wanted, kernel) == ZE_RESULT_SUCCESS &&
         zeKernelSetGroupSize(*kernel, GROUP, 1, 1) == ZE_RESULT_SUCCESS;
    free(code);
    return ok;
}

static int set(ze_kernel_handle_t kernel, uint32_t index, size_t size, const void *value) {
    return zeKernelSetArgumentValue(kernel, index, size, value) == ZE_RESULT_SUCCESS;
}

/* ---- set-up -------------------------------------------------------------------------------------------- */

static int make_lists(stepper *s, uint32_t group) {
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, group, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_queue_desc_t now = queue;
    ze_command_list_desc_t list = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, group, 0};
    now.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    return zeCommandQueueCreate(s->context, s->device, &queue, &s->queue) == 0 &&
           zeCommandListCreate(s->context, s->device, &list, &s->step) == 0 &&
           zeCommandListCreateImmediate(s->context, s->device, &now, &s->now) == 0;
}

static float *allocate(stepper *s, size_t count) {
    ze_device_mem_alloc_desc_t device = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, NULL, 0, 0};
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *memory = NULL;
    zeMemAllocShared(s->context, &device, &host, count * sizeof(float), 64, s->device, &memory);
    return (float *)memory;
}

static int set_arguments(stepper *s) {
    const float rate = 0.5f;
    const uint32_t count = ELEMENTS;
    return set(s->saxpy, 0, sizeof s->y, &s->y) && set(s->saxpy, 1, sizeof s->x, &s->x) &&
           set(s->saxpy, 2, sizeof rate, &rate) && set(s->saxpy, 3, sizeof count, &count) &&
           set(s->reduce, 0, sizeof s->sums, &s->sums) && set(s->reduce, 1, sizeof s->y, &s->y) &&
           set(s->reduce, 2, sizeof count, &count);
}

static int record(stepper *s) {
    const ze_group_count_t groups = {GROUPS, 1, 1};
    return zeCommandListAppendLaunchKernel(s->step, s->saxpy, &groups, NULL, 0, NULL) == 0 &&
           zeCommandListClose(s->step) == 0;
}

stepper *stepper_open(ze_context_handle_t context, ze_device_handle_t device, uint32_t queue_group,
                      const char *kernels) {
    stepper *s = (stepper *)calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->context = context;
    s->device = device;
    s->x = allocate(s, ELEMENTS);
    s->y = allocate(s, ELEMENTS);
    s->sums = allocate(s, GROUPS);
    if (!s->x || !s->y || !s->sums || !make_lists(s, queue_group) ||
        !load(s, kernels, "saxpy", &s->modules[0], &s->saxpy) ||
        !load(s, kernels, "reduce", &s->modules[1], &s->reduce) || !set_arguments(s) || !record(s)) {
        stepper_close(s);
        return NULL;
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        s->x[i] = 2;
        s->y[i] = 1;
    }
    return s;
}

void stepper_close(stepper *s) {
    /* A step may still run, if a call has failed after its start. If that cannot be waited for, it keeps what
       it uses. */
    if (s->queue && zeCommandQueueSynchronize(s->queue, timeout_ns) != ZE_RESULT_SUCCESS)
        return;
    if (s->step)
        zeCommandListDestroy(s->step);
    if (s->now)
        zeCommandListDestroy(s->now);
    if (s->queue)
        zeCommandQueueDestroy(s->queue);
    if (s->saxpy)
        zeKernelDestroy(s->saxpy);
    if (s->reduce)
        zeKernelDestroy(s->reduce);
    for (int i = 0; i < 2; i++)
        if (s->modules[i])
            zeModuleDestroy(s->modules[i]);
    if (s->x)
        zeMemFree(s->context, s->x);
    if (s->y)
        zeMemFree(s->context, s->y);
    if (s->sums)
        zeMemFree(s->context, s->sums);
    free(s);
}

/* ---- work ---------------------------------------------------------------------------------------------- */

static double sum(stepper *s) {
    const ze_group_count_t groups = {GROUPS, 1, 1};
    double total = 0;
    if (zeCommandListAppendLaunchKernel(s->now, s->reduce, &groups, NULL, 0, NULL) != 0)
        return -1;
    for (uint32_t i = 0; i < GROUPS; i++)
        total += s->sums[i];
    return total;
}

double stepper_run(stepper *s, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++)
        if (zeCommandQueueExecuteCommandLists(s->queue, 1, &s->step, NULL) != 0 ||
            zeCommandQueueSynchronize(s->queue, timeout_ns) != 0)
            return -1;
    return sum(s);
}
