/* Modules, kernels and their launches. */
#include "sampling.h"
#include "stop.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 32 };

/* ---- code ------------------------------------------------------------------------------------------------
 *
 * The code of equal binaries is loaded once, unless it imports what each module links for itself. It stays
 * until the process ends: a recorded list may launch a kernel whose module is gone. */

typedef struct build {
    const uint8_t *binary;
    size_t size;
    int file; /* of what is loaded, or -1 */
    char log[SG_LOG_BYTES];
} build;

static pthread_mutex_t code_lock = PTHREAD_MUTEX_INITIALIZER;
static sg_code *codes;

static bool fail(build *of, const char *why) {
    snprintf(of->log, sizeof of->log, "%s", why ? why : "the binary cannot be loaded");
    return false;
}

static bool kernels_are_sound(const sg_code *of) {
    for (const softgpu_kernel *const *kernel = of->first; kernel < of->last; ++kernel) {
        size_t bytes = 0;
        for (uint32_t i = 0; i < (*kernel)->argument_count; ++i)
            bytes += ((*kernel)->arguments[i].size + 15) & ~(size_t)15;
        if ((*kernel)->argument_count > MAX_ARGUMENTS || bytes > SG_MAX_ARGUMENT_BYTES)
            return false;
    }
    return of->first < of->last;
}

static bool find_kernels(build *of, sg_code *code) {
    if (!sg_is_whole_library(of->binary, of->size))
        return fail(of, "not a shared object for this machine, or not all of it");
    void *library = sg_open_library(of->binary, of->size, &of->file);
    if (!library)
        return fail(of, dlerror());
    softgpu_kernels_function *list;
    softgpu_memory_function *list_memory;
    softgpu_imports_function *list_imports;
    *(void **)&list = dlsym(library, SOFTGPU_KERNELS_SYMBOL);
    *(void **)&list_memory = dlsym(library, SOFTGPU_MEMORY_SYMBOL);
    *(void **)&list_imports = dlsym(library, SOFTGPU_IMPORTS_SYMBOL);
    code->library = library;
    if (list)
        list(&code->first, &code->last);
    if (list_memory)
        list_memory(&code->first_memory, &code->last_memory);
    if (list_imports)
        list_imports(&code->first_import, &code->last_import);
    if (!list || !kernels_are_sound(code)) {
        dlclose(library);
        return fail(of, "the shared object has no kernels: was it compiled with kernel.h?");
    }
    return true;
}

static sg_code *load_code(build *of) {
    sg_code *code = calloc(1, sizeof *code);
    uint8_t *binary = malloc(of->size);
    if (code && binary && find_kernels(of, code)) {
        memcpy(binary, of->binary, of->size);
        code->binary = binary;
        code->size = of->size;
        code->next = codes;
        return codes = code;
    }
    if (of->file >= 0)
        close(of->file);
    free(binary);
    free(code);
    return NULL;
}

static sg_code *code_for(build *of) {
    pthread_mutex_lock(&code_lock);
    sg_code *found = codes;
    while (found && (found->size != of->size || memcmp(found->binary, of->binary, of->size) ||
                     found->first_import < found->last_import))
        found = found->next;
    if (!found)
        found = load_code(of);
    pthread_mutex_unlock(&code_lock);
    return found;
}

void sg_each_code(void (*visit)(sg_code *code, void *argument), void *argument) {
    pthread_mutex_lock(&code_lock);
    for (sg_code *code = codes; code; code = code->next)
        visit(code, argument);
    pthread_mutex_unlock(&code_lock);
}

void sg_modules_unload(void) {
    while (codes) {
        sg_code *next = codes->next;
        free(codes->binary);
        free(codes);
        codes = next;
    }
}

/* ---- modules ------------------------------------------------------------------------------------------- */

typedef struct sg_build_log {
    sg_object object;
    char text[SG_LOG_BYTES];
} sg_build_log;

SG_HANDLE(log_of, sg_build_log, ze_module_build_log_handle_t, SG_BUILD_LOG)

ze_result_t sg_create_log(const char *text, void *context, ze_module_build_log_handle_t *out_log) {
    sg_build_log *log = sg_object_create(SG_BUILD_LOG, sizeof *log, context);
    if (!log)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    snprintf(log->text, sizeof log->text, "%s", text);
    *out_log = (ze_module_build_log_handle_t)log;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t create_module(build *of, const char *flags, sg_object *context, sg_device *device,
                                 ze_module_handle_t *out_module) {
    uint32_t profile_flags = 0;
    if (!sg_read_profile_flags(flags, &profile_flags)) {
        fail(of, "-zet-profile-flags takes a combination of profile flags, in hexadecimal");
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    sg_code *code = code_for(of);
    if (!code)
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    sg_module *module = sg_object_create(SG_MODULE, sizeof *module, context);
    if (!module)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    module->code = code;
    module->device = device;
    module->profile_flags = profile_flags;
    sg_debug_module_created(module);
    *out_module = (ze_module_handle_t)module;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeModuleCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                              const ze_module_desc_t *desc, ze_module_handle_t *out_module,
                              ze_module_build_log_handle_t *out_log) {
    sg_object *context = sg_context_of(context_handle);
    sg_device *device = sg_device_of(device_handle);
    SG_NEED_HANDLE(context);
    SG_NEED_HANDLE(device);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(desc->pInputModule);
    SG_NEED_POINTER(out_module);
    if (desc->format > ZE_MODULE_FORMAT_NATIVE)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!desc->inputSize)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    build of = {desc->pInputModule, desc->inputSize, -1, ""};
    ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (desc->format == ZE_MODULE_FORMAT_NATIVE)
        result = create_module(&of, desc->pBuildFlags, context, device, out_module);
    else
        fail(&of, "native binaries only: the device has no compiler");
    if (out_log && sg_create_log(of.log, context, out_log) != ZE_RESULT_SUCCESS)
        *out_log = NULL;
    return result;
}

ze_result_t sg_zeModuleDestroy(ze_module_handle_t handle) {
    const sg_module *module = sg_module_of(handle);
    if (module)
        sg_debug_module_destroyed(module);
    return sg_object_end(handle, SG_MODULE);
}

ze_result_t sg_zeModuleGetKernelNames(ze_module_handle_t handle, uint32_t *count, const char **names) {
    const sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(count);
    uint32_t given = sg_clamp_count(count, (uint32_t)(module->code->last - module->code->first));
    for (uint32_t i = 0; i < given && names; ++i)
        names[i] = module->code->first[i]->name;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeModuleBuildLogDestroy(ze_module_build_log_handle_t handle) {
    return sg_object_end(handle, SG_BUILD_LOG);
}

/* A string in two calls: its size with the terminating zero, then as much of it as fits. */
static ze_result_t give_string(const char *string, size_t *size, char *text) {
    SG_NEED_POINTER(size);
    size_t whole = strlen(string) + 1;
    if (text && *size)
        snprintf(text, *size, "%s", string);
    *size = whole;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeModuleBuildLogGetString(ze_module_build_log_handle_t handle, size_t *size, char *text) {
    const sg_build_log *log = log_of(handle);
    SG_NEED_HANDLE(log);
    return give_string(log->text, size, text);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static const softgpu_kernel *kernel_named(const sg_code *in, const char *name) {
    for (const softgpu_kernel *const *kernel = in->first; kernel < in->last; ++kernel)
        if (strcmp((*kernel)->name, name) == 0)
            return *kernel;
    return NULL;
}

ze_result_t sg_zeKernelCreate(ze_module_handle_t handle, const ze_kernel_desc_t *desc,
                              ze_kernel_handle_t *out_kernel) {
    sg_module *module = sg_module_of(handle);
    SG_NEED_HANDLE(module);
    SG_NEED_POINTER(desc);
    SG_NEED_POINTER(desc->pKernelName);
    SG_NEED_POINTER(out_kernel);
    if (desc->flags & ~0x3u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!sg_module_is_linked(module))
        return ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
    const softgpu_kernel *found = kernel_named(module->code, desc->pKernelName);
    if (!found)
        return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    sg_kernel *kernel = sg_object_create(SG_KERNEL, sizeof *kernel, module);
    if (!kernel)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    kernel->code = found;
    kernel->binary = module->code;
    kernel->profile_flags = module->profile_flags;
    if (sg_local_bytes(kernel) > SG_MAX_LOCAL_MEMORY) {
        sg_object_destroy(kernel);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    for (unsigned i = 0; i < 3; ++i)
        kernel->group_size[i] = 1;
    *out_kernel = (ze_kernel_handle_t)kernel;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeKernelDestroy(ze_kernel_handle_t handle) {
    return sg_object_end(handle, SG_KERNEL);
}

ze_result_t sg_zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
    sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    if (!x || !y || !z || x > SG_MAX_GROUP_SIZE || y > SG_MAX_GROUP_SIZE || z > SG_MAX_GROUP_SIZE ||
        (uint64_t)x * y * z > SG_MAX_GROUP_SIZE)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    kernel->group_size[0] = x;
    kernel->group_size[1] = y;
    kernel->group_size[2] = z;
    return ZE_RESULT_SUCCESS;
}

static uint32_t largest_divisor(uint32_t number, uint32_t limit) {
    uint32_t divisor = limit;
    while (number % divisor)
        --divisor;
    return divisor;
}

ze_result_t sg_zeKernelSuggestGroupSize(ze_kernel_handle_t handle, uint32_t width, uint32_t height,
                                        uint32_t depth, uint32_t *x, uint32_t *y, uint32_t *z) {
    SG_NEED_HANDLE(sg_kernel_of(handle));
    SG_NEED_POINTER(x);
    SG_NEED_POINTER(y);
    SG_NEED_POINTER(z);
    if (!width || !height || !depth)
        return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
    *x = largest_divisor(width, 256);
    *y = largest_divisor(height, 256 / *x);
    *z = largest_divisor(depth, 256 / *x / *y);
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t handle, uint32_t *count) {
    SG_NEED_HANDLE(sg_kernel_of(handle));
    SG_NEED_POINTER(count);
    *count = SG_MAX_GROUP_SIZE;
    return ZE_RESULT_SUCCESS;
}

static size_t argument_offset(const softgpu_kernel *code, uint32_t index) {
    size_t offset = 0;
    for (uint32_t i = 0; i < index; ++i)
        offset += (code->arguments[i].size + 15) & ~(size_t)15;
    return offset;
}

ze_result_t sg_zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index, size_t size,
                                        const void *value) {
    sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    if (index >= kernel->code->argument_count)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    const softgpu_argument *argument = &kernel->code->arguments[index];
    if (size != argument->size)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    void *buffer = NULL;
    if (argument->is_buffer && value)
        memcpy(&buffer, value, sizeof buffer);
    if (buffer && !sg_memory_is_known(buffer))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    char *place = kernel->values + argument_offset(kernel->code, index);
    if (value)
        memcpy(place, value, size);
    else
        memset(place, 0, size);
    kernel->set |= (uint32_t)1 << index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t sg_zeKernelSetIndirectAccess(ze_kernel_handle_t handle, ze_kernel_indirect_access_flags_t flags) {
    sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    if (flags & ~0x7u)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    kernel->indirect_access = flags;
    return ZE_RESULT_SUCCESS;
}

SG_GETTER(zeKernelGetIndirectAccess, sg_kernel_of, ze_kernel_handle_t, ze_kernel_indirect_access_flags_t,
          object->indirect_access)

ze_result_t sg_zeKernelGetName(ze_kernel_handle_t handle, size_t *size, char *name) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(kernel);
    return give_string(kernel->code->name, size, name);
}

/* ---- launches ------------------------------------------------------------------------------------------ */

/* What a kernel was when it was appended. */
typedef struct launch {
    const softgpu_kernel *code;
    uint32_t group_size[3];
    ze_group_count_t groups;
    const ze_group_count_t *indirect_groups; /* if not NULL, read when it runs */
    const uint32_t *limit; /* if not NULL, a launch of so many: is this index one of them? */
    uint32_t index;
    _Alignas(16) char values[SG_MAX_ARGUMENT_BYTES];
} launch;

static void count_group(sg_device *tile, softgpu_group *group) {
    sg_count(tile, SG_GROUPS, 1);
    sg_count(tile, SG_ITEMS, group->items);
    sg_count(tile, SG_KERNEL_BYTES_READ, group->bytes_read);
    sg_count(tile, SG_KERNEL_BYTES_WRITTEN, group->bytes_written);
    sg_count(tile, SG_LOCAL_BYTES_READ, group->local_bytes_read);
    sg_count(tile, SG_LOCAL_BYTES_WRITTEN, group->local_bytes_written);
    sg_count(tile, SG_GROUP_BARRIERS, group->barriers);
    group->bytes_read = group->bytes_written = group->barriers = 0;
    group->local_bytes_read = group->local_bytes_written = 0;
}

static softgpu_group first_group(const launch *what) {
    ze_group_count_t count = what->indirect_groups ? *what->indirect_groups : what->groups;
    softgpu_group group = {.count = {count.groupCountX, count.groupCountY, count.groupCountZ}};
    memcpy(group.size, what->group_size, sizeof group.size);
    group.items = group.size[0] * group.size[1] * group.size[2];
    return group;
}

/* A tile is at work from its first group to its last. */
static void time_tile(sg_interval *tile, uint64_t start) {
    if (!tile->start)
        tile->start = start;
    tile->end = sg_now();
}

static void run_groups(sg_execution *execution, const launch *what, void *const *values) {
    sg_device *device = execution->device;
    softgpu_group group = first_group(what);
    _Alignas(SG_CACHE_LINE) uint8_t local[SG_MAX_LOCAL_MEMORY + SG_LOCAL_GAPS];
    uint32_t tiles = device->parent ? 0 : sg_sub_device_count();
    uint64_t plane = (uint64_t)group.count[0] * group.count[1];
    bool is_sampled = false;
    const bool can_stop = sg_debug_is_enabled() && sg_stop_open();
    for (uint64_t n = 0;
         n < plane * group.count[2] && !sg_is_lost() && !sg_is_stopping(device) && !execution->has_failed;
         ++n) {
        group.local = local;
        group.local_used = 0;
        group.id[0] = (uint32_t)(n % group.count[0]);
        group.id[1] = (uint32_t)(n / group.count[0] % group.count[1]);
        group.id[2] = (uint32_t)(n / plane);
        sg_device *tile = sg_tile_for(device, n);
        uint64_t start = tiles ? sg_now() : 0;
        is_sampled = sg_sampling_is_on(device) ? sg_sampling_open() : is_sampled;
        if (is_sampled)
            sg_sampling_work_for(tile);
        if (!can_stop)
            what->code->run(&group, values);
        else if (!sg_stop_run(tile, what->code, &group, values))
            execution->has_failed = true;
        if (is_sampled)
            sg_sampling_work_for(NULL);
        if (tiles)
            time_tile(&execution->tiles[n % tiles], start);
        count_group(tile, &group);
    }
    if (is_sampled)
        sg_sampling_close();
    if (can_stop)
        sg_stop_close();
    if (execution->has_failed)
        sg_note_loss();
}

static void run_launch(sg_execution *execution, void *argument) {
    launch *what = argument;
    if (what->limit && what->index >= *what->limit)
        return;
    void *values[MAX_ARGUMENTS];
    for (uint32_t i = 0; i < what->code->argument_count; ++i)
        values[i] = what->values + argument_offset(what->code, i);
    run_groups(execution, what, values);
    sg_count(sg_tile_for(execution->device, 0), SG_KERNELS, 1);
}

static ze_result_t append_launch(ze_command_list_handle_t list_handle, ze_kernel_handle_t kernel_handle,
                                 launch *what, const sg_append *events) {
    const sg_list *list = sg_list_of(list_handle);
    const sg_kernel *kernel = sg_kernel_of(kernel_handle);
    SG_NEED_HANDLE(list);
    SG_NEED_HANDLE(kernel);
    if (list->ordinal != SG_COMPUTE_ORDINAL)
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    uint32_t needed = (uint32_t)(((uint64_t)1 << kernel->code->argument_count) - 1);
    if (kernel->set != needed) {
        sg_finding("a KERNEL launched without values for all its arguments: %s", kernel->code->name);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    size_t value_bytes = argument_offset(kernel->code, kernel->code->argument_count);
    what->code = kernel->code;
    memcpy(what->group_size, kernel->group_size, sizeof what->group_size);
    memcpy(what->values, kernel->values, value_bytes);
    sg_append append = *events;
    append.run = run_launch;
    append.is_kernel = true;
    append.code = kernel->binary;
    append.argument = what;
    append.size = offsetof(launch, values) + value_bytes;
    return sg_list_append(list_handle, &append);
}

ze_result_t sg_zeCommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                               const ze_group_count_t *groups, ze_event_handle_t signal,
                                               uint32_t wait_count, ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(groups);
    launch what;
    what.groups = *groups;
    what.indirect_groups = NULL;
    what.limit = NULL;
    sg_append events = {.signal = signal, .wait_count = wait_count, .waits = waits};
    return append_launch(list, kernel, &what, &events);
}

ze_result_t sg_zeCommandListAppendLaunchKernelWithParameters(ze_command_list_handle_t list,
                                                             ze_kernel_handle_t kernel,
                                                             const ze_group_count_t *groups,
                                                             const void *extension, ze_event_handle_t signal,
                                                             uint32_t wait_count, ze_event_handle_t *waits) {
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return sg_zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

ze_result_t sg_zeCommandListAppendLaunchKernelWithArguments(ze_command_list_handle_t list,
                                                            ze_kernel_handle_t handle,
                                                            ze_group_count_t groups, sg_group_size group_size,
                                                            void **values, const void *extension,
                                                            ze_event_handle_t signal, uint32_t wait_count,
                                                            ze_event_handle_t *waits) {
    const sg_kernel *kernel = sg_kernel_of(handle);
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_HANDLE(kernel);
    SG_NEED_POINTER(values);
    if (extension)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_result_t result = sg_zeKernelSetGroupSize(handle, group_size.x, group_size.y, group_size.z);
    for (uint32_t i = 0; i < kernel->code->argument_count && result == ZE_RESULT_SUCCESS; ++i)
        result = sg_zeKernelSetArgumentValue(handle, i, kernel->code->arguments[i].size, values[i]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return sg_zeCommandListAppendLaunchKernel(list, handle, &groups, signal, wait_count, waits);
}

/* The groups run one after the other, and no kernel waits for another group: nothing to be cooperative about.
 */
ze_result_t sg_zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t list,
                                                          ze_kernel_handle_t kernel,
                                                          const ze_group_count_t *groups,
                                                          ze_event_handle_t signal, uint32_t wait_count,
                                                          ze_event_handle_t *waits) {
    return sg_zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

ze_result_t sg_zeCommandListAppendLaunchMultipleKernelsIndirect(
    ze_command_list_handle_t list, uint32_t kernel_count, ze_kernel_handle_t *kernels,
    const uint32_t *count_buffer, const ze_group_count_t *groups_buffer, ze_event_handle_t signal,
    uint32_t wait_count, ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(kernels);
    SG_NEED_POINTER(count_buffer);
    SG_NEED_POINTER(groups_buffer);
    if (!kernel_count)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < kernel_count && result == ZE_RESULT_SUCCESS; ++i) {
        launch what = {.indirect_groups = &groups_buffer[i], .limit = count_buffer, .index = i};
        bool first = i == 0, last = i + 1 == kernel_count;
        sg_append events = {.signal = last ? signal : NULL,
                            .wait_count = first ? wait_count : 0,
                            .waits = waits,
                            .order = first ? 0 : SG_AFTER_ALL};
        result = append_launch(list, kernels[i], &what, &events);
    }
    return result;
}

ze_result_t sg_zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list,
                                                       ze_kernel_handle_t kernel,
                                                       const ze_group_count_t *groups_buffer,
                                                       ze_event_handle_t signal, uint32_t wait_count,
                                                       ze_event_handle_t *waits) {
    SG_NEED_HANDLE(sg_list_of(list));
    SG_NEED_POINTER(groups_buffer);
    launch what = {.indirect_groups = groups_buffer};
    sg_append events = {.signal = signal, .wait_count = wait_count, .waits = waits};
    return append_launch(list, kernel, &what, &events);
}
