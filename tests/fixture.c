#define _GNU_SOURCE
#include "fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/auxv.h>
#include <sys/statvfs.h>
#endif
#include <time.h>
#include <unistd.h>

/* ZT_TEST=name runs the tests of a program whose names match; '*' and '?' stand for any characters. */
static __attribute__((constructor)) void choose_tests(void) {
    if (getenv("ZT_TEST"))
        cmocka_set_test_filter(getenv("ZT_TEST"));
}

/* ==== the library: counted are its use of the heap and what it registers; its clock can be advanced ======= */

static atomic_uint_fast64_t allocation_count;
static atomic_int_fast64_t allocated_bytes, allocated_blocks;

static atomic_uint_fast64_t heap_fails_in; /* calls until the fault; 0: none */
static atomic_int heap_fails_for_ever;

void fail_heap(uint64_t nth_call, int for_ever) {
    atomic_store(&heap_fails_for_ever, for_ever);
    atomic_store(&heap_fails_in, nth_call);
}

/* Counts a call. Returns whether it has to fail. */
static int heap_fails(void) {
    uint_fast64_t left = atomic_load(&heap_fails_in);
    atomic_fetch_add(&allocation_count, 1);
    while (left && !(left == 1 && atomic_load(&heap_fails_for_ever)) &&
           !atomic_compare_exchange_weak(&heap_fails_in, &left, left - 1)) {
    }
    return left == 1;
}

static void *count_in(void *memory) {
    if (memory) {
        atomic_fetch_add(&allocated_bytes, (int64_t)malloc_usable_size(memory));
        atomic_fetch_add(&allocated_blocks, 1);
    }
    return memory;
}

static void count_out(void *memory) {
    if (memory) {
        atomic_fetch_sub(&allocated_bytes, (int64_t)malloc_usable_size(memory));
        atomic_fetch_sub(&allocated_blocks, 1);
    }
}

static void *counted_malloc(size_t size) {
    return heap_fails() ? NULL : count_in(malloc(size));
}

static __attribute__((unused)) void *counted_calloc(size_t count, size_t size) {
    return heap_fails() ? NULL : count_in(calloc(count, size));
}

static __attribute__((unused)) void *counted_realloc(void *memory, size_t size) {
    if (heap_fails())
        return NULL;
    count_out(memory);
    return count_in(realloc(memory, size));
}

static void counted_free(void *memory) {
    count_out(memory);
    free(memory);
}

uint64_t heap_allocations(void) {
    return atomic_load(&allocation_count);
}

int64_t heap_bytes(void) {
    return atomic_load(&allocated_bytes);
}

int64_t heap_blocks(void) {
    return atomic_load(&allocated_blocks);
}

int allocations_left = -1;

static void *allocate_some(size_t size, void *user) {
    (void)user;
    if (allocations_left == 0)
        return NULL;
    allocations_left -= allocations_left > 0;
    return malloc(size);
}

static void release_some(void *memory, void *user) {
    (void)user;
    free(memory);
}

zt_allocator scarce_allocator(void) {
    zt_allocator allocator = {allocate_some, release_some, NULL};
    return allocator;
}

static struct interruption {
    atomic_int allocations_before; /* below 0: none */
    void *(*function)(void *argument);
    void *argument;
} interruption = {-1, NULL, NULL};

static void *allocate_interrupted(size_t size, void *user) {
    pthread_t other;
    (void)user;
    if (atomic_load(&interruption.allocations_before) >= 0 &&
        atomic_fetch_sub(&interruption.allocations_before, 1) == 0 &&
        pthread_create(&other, NULL, interruption.function, interruption.argument) == 0)
        pthread_join(other, NULL);
    return malloc(size);
}

zt_allocator interrupted_allocator(void) {
    zt_allocator allocator = {allocate_interrupted, release_some, NULL};
    return allocator;
}

void interrupt_allocation(int allocations_before, void *(*function)(void *argument), void *argument) {
    interruption.function = function;
    interruption.argument = argument;
    atomic_store(&interruption.allocations_before, allocations_before);
}

int interrupted_allocation(void) {
    return atomic_exchange(&interruption.allocations_before, -1) < 0;
}

heap_use library_memory(void) {
    heap_use now = {heap_allocations(), heap_bytes()};
    return now;
}

void assert_same_memory(heap_use before) {
    heap_use now = library_memory();
    assert_int_equal(now.allocations, before.allocations);
    assert_int_equal(now.bytes, before.bytes);
}

static atomic_int_fast64_t time_passed; /* nanoseconds, beside those that really do */

void pass_time(uint64_t ns) {
    atomic_fetch_add(&time_passed, (int64_t)ns);
}

static atomic_int_fast64_t time_held; /* not 0: where the clock stands */

static int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void *pass_much_time(void *is_over) {
    while (!__atomic_load_n((int *)is_over, __ATOMIC_ACQUIRE)) {
        pass_time(UINT64_C(100000000));
        nap();
    }
    return NULL;
}

/* The device's clock is held with the host's: else a pair of both would be wrong by how long this thread then waits. */
void hold_time(int held) {
    atomic_store(&time_held, held ? monotonic_ns() : 0);
    gpu.hold_time(held);
}

static int advanced_clock(clockid_t clock, struct timespec *now) {
    int64_t held = atomic_load(&time_held);
    int result = clock_gettime(clock, now);
    if (clock == CLOCK_MONOTONIC) {
        if (held) {
            now->tv_sec = (time_t)(held / 1000000000);
            now->tv_nsec = (long)(held % 1000000000);
        }
        int64_t passed = atomic_load(&time_passed) + now->tv_nsec;
        now->tv_sec += (time_t)(passed / 1000000000);
        now->tv_nsec = (long)(passed % 1000000000);
    }
    return result;
}

static atomic_int sleeps_pass;

void pass_sleeps(int pass) {
    atomic_store(&sleeps_pass, pass);
}

#ifndef _WIN32
static int advanced_sleep(const struct timespec *time, struct timespec *left) {
    if (!atomic_load(&sleeps_pass))
        return nanosleep(time, left);
    pass_time((uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
    return 0;
}
#endif

int refused_threads;

#ifndef _WIN32
static int refusable_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                            void *argument) {
    if (refused_threads > 0) {
        refused_threads--;
        return EAGAIN;
    }
    return pthread_create(thread, attributes, function, argument);
}

/* `until` is of the advanced clock. While that is held, a thread looks every millisecond whether it has passed. */
static int advanced_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                              const struct timespec *until) {
    int64_t ns = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec - atomic_load(&time_passed);
    ns = atomic_load(&time_held) ? monotonic_ns() + 1000000 : ns;
    struct timespec real = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return pthread_cond_timedwait(condition, mutex, &real);
}
#endif

enum { MOST_REGISTERED = 1024 };
typedef void (*any_callback)(void *parameters, ze_result_t result, void *user, void **instance);
typedef ze_result_t (*register_function)(zel_tracer_handle_t tracer, zel_tracer_reg_t when,
                                         any_callback called);

static char register_symbols[MOST_REGISTERED][96]; /* of each callback, the function that registered it */
static uint32_t registered_count;
static char found_symbol[96]; /* the last that was looked up. The library holds a lock meanwhile */
static register_function found_function;

void forget_registered(void) {
    registered_count = 0;
}

uint32_t registered(const char *call) {
    char symbol[96];
    uint32_t count = 0;
    if (!call)
        return registered_count;
    snprintf(symbol, sizeof symbol, "zelTracer%sRegisterCallback", call + 2);
    for (uint32_t i = 0; i < registered_count; i++)
        count += strcmp(register_symbols[i], symbol) == 0;
    return count;
}

static uint32_t registrations_left; /* before the one that fails; 0: none does */
static ze_result_t registration_result;

void fail_registration(uint32_t nth_callback, ze_result_t result) {
    registrations_left = nth_callback;
    registration_result = result;
}

static ze_result_t register_counted(zel_tracer_handle_t tracer, zel_tracer_reg_t when, any_callback called) {
    if (registrations_left > 0 && --registrations_left == 0)
        return registration_result;
    if (registered_count < MOST_REGISTERED)
        strcpy(register_symbols[registered_count++], found_symbol);
    return found_function(tracer, when, called);
}

static const char *hidden_symbol;

void hide_symbol(const char *name) {
    hidden_symbol = name;
}

enum { MOST_REPLACED = 4 };
static struct {
    const char *name;
    any_function function;
} replacements[MOST_REPLACED];
static uint32_t replacement_count;

void replace_symbol(const char *name, any_function function) {
    assert_true(replacement_count < MOST_REPLACED);
    replacements[replacement_count].name = name;
    replacements[replacement_count++].function = function;
}

/* Returns whether a function is replaced, and stores what replaces it last. */
static int find_replacement(const char *name, void **function) {
    int is_replaced = 0;
    for (uint32_t i = 0; i < replacement_count; i++) {
        if (strcmp(name, replacements[i].name) == 0) {
            memcpy(function, &replacements[i].function, sizeof *function);
            is_replaced = 1;
        }
    }
    return is_replaced;
}

kernel_base_function fake_kernel_base;

typedef ze_result_t (*extension_function)(ze_driver_handle_t driver, const char *name, void **function);
static extension_function find_extension;

static ze_result_t find_watched_extension(ze_driver_handle_t driver, const char *name, void **function) {
    if (fake_kernel_base && strcmp(name, "zexKernelGetBaseAddress") == 0) {
        memcpy(function, &fake_kernel_base, sizeof *function);
        return ZE_RESULT_SUCCESS;
    }
    if (find_replacement(name, function))
        return ZE_RESULT_SUCCESS;
    return __atomic_load_n(&find_extension, __ATOMIC_ACQUIRE)(driver, name, function);
}

static void *watched_dlsym(void *library, const char *name) {
    static const register_function ours = register_counted;
    static const extension_function watched = find_watched_extension;
    void *symbol = hidden_symbol && strcmp(name, hidden_symbol) == 0 ? NULL : dlsym(library, name);
    find_replacement(name, &symbol);
    if (symbol && strcmp(name, "zeDriverGetExtensionFunctionAddress") == 0) {
        extension_function found;
        memcpy(&found, &symbol, sizeof symbol);
        __atomic_store_n(&find_extension, found, __ATOMIC_RELEASE);
        memcpy(&symbol, &watched, sizeof symbol);
    }
    if (!symbol || !strstr(name, "RegisterCallback"))
        return symbol;
    memcpy(&found_function, &symbol, sizeof symbol);
    snprintf(found_symbol, sizeof found_symbol, "%s", name);
    memcpy(&symbol, &ours, sizeof symbol);
    return symbol;
}

/* ==== the library: who may use the counters =============================================================== */

static const char *assumed_paranoid = "1";

void assume_reserved(const char *content) {
    assumed_paranoid = content;
}

static int assumed_extra_rights;

void assume_extra_rights(int has_them) {
    __atomic_store_n(&assumed_extra_rights, has_them, __ATOMIC_RELAXED); /* threads of the library read it */
}

#ifndef _WIN32
static __attribute__((unused)) unsigned long assumed_getauxval(unsigned long type) {
    if (type != AT_SECURE)
        return getauxval(type);
    return (unsigned long)__atomic_load_n(&assumed_extra_rights, __ATOMIC_RELAXED);
}
#endif

static const char *assumed_debug_switch; /* NULL: there is none */

void assume_debug_switch(const char *content) {
    assumed_debug_switch = content;
}

static const char *assumed_energy; /* NULL: there is none */

void assume_energy(const char *content) {
    assumed_energy = content;
}

static FILE *open_text(const char *content) {
    errno = ENOENT;
    return content ? fmemopen((void *)(uintptr_t)content, strlen(content), "r") : NULL;
}

static __attribute__((unused)) FILE *assumed_fopen(const char *path, const char *mode) {
    if (strncmp(path, "/sys/class/drm/", strlen("/sys/class/drm/")) == 0)
        return open_text(
            strcmp(path, "/sys/class/drm/card0/prelim_enable_eu_debug") == 0 ? assumed_debug_switch : NULL);
    if (strncmp(path, "/sys/bus/pci/", strlen("/sys/bus/pci/")) == 0)
        return open_text(strstr(path, "/0000:00:00.0/hwmon/hwmon7/energy1_input") ? assumed_energy : NULL);
    if (strncmp(path, "/proc/sys/dev/", strlen("/proc/sys/dev/")) == 0)
        return open_text(assumed_paranoid);
    return fopen(path, mode);
}

static shown_processes assumed_shown;

void assume_shown(shown_processes shown) {
    __atomic_store_n(&assumed_shown, shown, __ATOMIC_RELAXED); /* likewise */
}

#ifndef _WIN32
static __attribute__((unused)) DIR *assumed_opendir(const char *path) {
    const shown_processes shown = __atomic_load_n(&assumed_shown, __ATOMIC_RELAXED);
    int process = 0, end = 0;
    if ((shown == NO_PROCESS && strcmp(path, "/proc") == 0) ||
        (shown == OWN_PROCESS && sscanf(path, "/proc/%d/fd%n", &process, &end) == 1 && !path[end] &&
         process != getpid())) {
        errno = EACCES;
        return NULL;
    }
    return opendir(path);
}

/* The counters of this machine are not those of the tests' device. */
static __attribute__((unused)) ssize_t assumed_readlink(const char *path, char *target, size_t size) {
    const char *shared = getenv("SOFTGPU_COUNTERS");
    char real[PATH_MAX];
    ssize_t length = readlink(path, real, sizeof real - 1);
    real[length > 0 ? length : 0] = 0;
    if (strncmp(real, "anon_inode:", strlen("anon_inode:")) == 0)
        length = snprintf(real, sizeof real, "none");
    else if (shared && strncmp(real, shared, strlen(shared)) == 0)
        length = snprintf(real, sizeof real, "anon_inode:[xe_oa]");
    if (length > (ssize_t)size)
        length = (ssize_t)size;
    if (length > 0)
        memcpy(target, real, (size_t)length);
    return length;
}
#endif

/* What must hold inside the library, whatever a test does. */
static void check_invariant(int holds, const char *condition) {
    if (!holds) {
        fprintf(stderr, "zetools.h: this does not hold: %s\n", condition);
        abort();
    }
}

#ifdef _WIN32
#include "windows/library.h"
#endif
#define dlsym watched_dlsym
#define fopen assumed_fopen
#define clock_gettime advanced_clock
#ifndef _WIN32
#define getauxval assumed_getauxval
#define opendir assumed_opendir
#define readlink assumed_readlink
#define nanosleep advanced_sleep
#define pthread_cond_timedwait advanced_timedwait
#define pthread_create refusable_create
#endif
#define malloc counted_malloc
#define calloc counted_calloc
#define realloc counted_realloc
#define free counted_free
#define ZT__INVARIANT(condition) check_invariant((condition) != 0, #condition)
#define ZT__MAX_ALLOCATIONS 20000u /* those of test_memory.c */
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
#undef GetProcAddress
#undef QueryPerformanceCounter
#undef Sleep
#undef GetTokenInformation
#undef dlsym
#undef fopen
#undef clock_gettime
#ifndef _WIN32
#undef getauxval
#undef opendir
#undef readlink
#undef nanosleep
#undef pthread_cond_timedwait
#undef pthread_create
#endif
#undef malloc
#undef calloc
#undef realloc
#undef free

/* ==== assertions ========================================================================================== */

void assert_result_(ze_result_t got, ze_result_t expected, const char *call, const char *file, int line) {
    if (got == expected)
        return;
    print_error("%s: %s (0x%x), not %s\n", call, zt_result_name(got), (unsigned)got,
                zt_result_name(expected));
    _fail(file, line);
}

void assert_contains_(const char *text, const char *part, const char *file, int line) {
    if (text && strstr(text, part))
        return;
    print_error("no '%s' in: %s\n", part, text ? text : "(null)");
    _fail(file, line);
}

/* ==== the software device ================================================================================= */

#ifndef BUILD_DIRECTORY /* the Makefile defines these */
#define BUILD_DIRECTORY "build/"
#define SOURCE_DIRECTORY ""
#endif
#ifdef _WIN32
#define DRIVER_FILE "ze_softgpu.dll"
#else
#define DRIVER_FILE "libze_softgpu.so"
#endif

struct gpu gpu;

static char noted_failure[512];
static int is_failure_noted;

void note_failure(const char *what, ze_result_t result) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    if (!has_noted_failure())
        snprintf(noted_failure, sizeof noted_failure, "%s: %s", what, zt_result_name(result));
    __atomic_store_n(&is_failure_noted, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&one);
}

int has_noted_failure(void) {
    return __atomic_load_n(&is_failure_noted, __ATOMIC_ACQUIRE);
}

void assert_no_noted_failure(void) {
    if (__atomic_exchange_n(&is_failure_noted, 0, __ATOMIC_ACQ_REL))
        fail_msg("%s", noted_failure);
}

uint64_t calls(const char *function) {
    return gpu.calls(function);
}

void inject(const char *function, uint32_t nth_call, ze_result_t result) {
    if (!(gpu.fail)(function, nth_call, (uint32_t)result)) /* cmocka has a macro of that name */
        fail_msg("the device has no %s", function);
}

int can_tell_immediate(void) {
    return dlsym(RTLD_DEFAULT, "zeCommandListIsImmediate") != NULL;
}

uint64_t maybe_running(uint64_t recorded) {
    return can_tell_immediate() ? 0 : recorded;
}

/* The directory of the running program. Not that of /proc/self/exe, which may be the dynamic linker. */
static void program_directory(char path[PATH_MAX]) {
    if (!realpath(program_invocation_name, path))
        fail_msg("there is no %s", program_invocation_name);
    *strrchr(path, '/') = 0;
}

/* A name that begins with build/ is of what was built; any other is of the sources. */
void find_file(const char *name, char *path, size_t size) {
    if (strncmp(name, "build/", strlen("build/")) == 0)
        snprintf(path, size, "%s%s", BUILD_DIRECTORY, name + strlen("build/"));
    else
        snprintf(path, size, "%s%s", SOURCE_DIRECTORY, name);
    if (access(path, R_OK) != 0)
        fail_msg("there is no %s", path);
}

const char *driver_path(void) {
    static char path[PATH_MAX];
    const char *given = getenv("ZE_ENABLE_ALT_DRIVERS");
    char directory[PATH_MAX], beside[PATH_MAX + 32];
    if (given) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(given, ","), given);
        return path;
    }
    program_directory(directory);
    snprintf(beside, sizeof beside, "%s/../" DRIVER_FILE, directory);
    if (!realpath(beside, path))
        fail_msg("there is no %s", beside);
    return path;
}

int loader_wraps_handles(void) {
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    return getenv("ZE_ENABLE_LOADER_INTERCEPT") != NULL || (drivers && strchr(drivers, ','));
}

static void reach_control(const char *path) {
    void *driver = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (!driver)
        fail_msg("the loader did not load %s", path);
#define REACH(name)                                                                                          \
    *(void **)&gpu.name = dlsym(driver, "softgpu_" #name);                                                   \
    assert_non_null(gpu.name);
    GPU_FUNCTIONS(REACH)
#undef REACH
    dlclose(driver); /* the loader keeps it */
}

int start_without_library(void **state) {
    (void)state;
    const char *path = driver_path();
    setenv("ZE_ENABLE_ALT_DRIVERS", path, 0);
    setenv("ZET_ENABLE_METRICS", "1", 0);
    unsetenv("ZT_GROUPS");
    unsetenv("ZT_COLUMNS");
    unsetenv("ZT_REPORT");
    unsetenv("ZT_LOG");
    unsetenv("ZT_TIMELINE");
    unsetenv("ZT_PEAKS");
    ok(zeInit(0));
    reach_control(path);
    return 0;
}

int start(void **state) {
    start_without_library(state);
    zt__get_process(); /* what a process needs once */
    return 0;
}

int start_traced(void **state) {
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    return start(state);
}

/* ==== the world =========================================================================================== */

static void create_context_and_queue(world *w) {
    ze_context_desc_t context = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
    ze_command_queue_desc_t queue = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_event_pool_desc_t pool = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                 ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 16};
    uint32_t one = 1;
    ok(zeDriverGet(&one, &w->driver));
    ok(zeDeviceGet(w->driver, &one, &w->device));
    ok(zeContextCreate(w->driver, &context, &w->context));
    ok(zeCommandQueueCreate(w->context, w->device, &queue, &w->queue));
    ok(zeEventPoolCreate(w->context, &pool, 1, &w->device, &w->event_pool));
    create_event(w, 0, &w->done);
}

void create_immediate(world *w, ze_command_list_handle_t *list) {
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ok(zeCommandListCreateImmediate(w->context, w->device, &desc, list));
}

void create_list(world *w, ze_command_list_handle_t *list) {
    ze_command_list_desc_t desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, 0, 0};
    ok(zeCommandListCreate(w->context, w->device, &desc, list));
}

void create_event(world *w, uint32_t index, ze_event_handle_t *event) {
    ze_event_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_DESC, NULL, index, ZE_EVENT_SCOPE_FLAG_HOST,
                            ZE_EVENT_SCOPE_FLAG_HOST};
    ok(zeEventCreate(w->event_pool, &desc, event));
}

ze_event_handle_t append_gate(world *w, ze_command_list_handle_t list) {
    ze_event_handle_t gate;
    create_event(w, 1, &gate);
    ok(zeCommandListAppendWaitOnEvents(list, 1, &gate));
    return gate;
}

static void create_memory(world *w) {
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    void *ones = NULL, *sums = NULL;
    ok(zeMemAllocHost(w->context, &host, WORK_ITEMS * sizeof(float), 64, &ones));
    ok(zeMemAllocHost(w->context, &host, WORK_ITEMS * sizeof(float), 64, &sums));
    w->ones = (float *)ones;
    w->sums = (float *)sums;
    for (uint32_t i = 0; i < WORK_ITEMS; i++)
        w->ones[i] = 1, w->sums[i] = 0;
}

native_binary read_binary(const char *name) {
    char path[PATH_MAX];
    native_binary read = {NULL, 0};
    find_file(name, path, sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    read.size = (size_t)ftell(file);
    rewind(file);
    read.bytes = (uint8_t *)malloc(read.size);
    assert_non_null(read.bytes);
    assert_int_equal(fread(read.bytes, 1, read.size, file), read.size);
    fclose(file);
    return read;
}

ze_result_t try_module(world *w, native_binary code, const char *flags, ze_module_handle_t *module) {
    ze_module_desc_t desc = {
        ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_NATIVE, code.size, code.bytes, flags, NULL};
    return zeModuleCreate(w->context, w->device, &desc, module, NULL);
}

ze_module_handle_t load_module(world *w, const char *name, const char *flags) {
    native_binary code = read_binary(name);
    ze_module_handle_t module;
    ok(try_module(w, code, flags, &module));
    free(code.bytes);
    return module;
}

ze_kernel_handle_t kernel_in(ze_module_handle_t module, const char *name) {
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    ze_kernel_handle_t kernel;
    ok(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

void create_kernel(world *w, ze_kernel_handle_t *kernel) {
    uint32_t count = WORK_ITEMS;
    float factor = 1;
    *kernel = kernel_in(w->module, "saxpy");
    ok(zeKernelSetGroupSize(*kernel, WORK_ITEMS / WORK_GROUPS, 1, 1));
    ok(zeKernelSetArgumentValue(*kernel, 0, sizeof w->sums, &w->sums));
    ok(zeKernelSetArgumentValue(*kernel, 1, sizeof w->ones, &w->ones));
    ok(zeKernelSetArgumentValue(*kernel, 2, sizeof factor, &factor));
    ok(zeKernelSetArgumentValue(*kernel, 3, sizeof count, &count));
}

int open_world(void **state) {
    world *w = (world *)calloc(1, sizeof *w);
    assert_non_null(w);
    *state = w;
    gpu.reset();
    gpu.forget_findings();
    assume_reserved("1");
    assume_extra_rights(0);
    assume_debug_switch(NULL);
    assume_energy(NULL);
    assume_shown(ALL_PROCESSES);
    allocations_left = -1;
    interrupt_allocation(-1, NULL, NULL);
    fake_kernel_base = NULL;
    replacement_count = 0;
    refused_threads = 0;
    w->live_before = gpu.live();
    create_context_and_queue(w);
    create_immediate(w, &w->immediate);
    create_list(w, &w->list);
    create_memory(w);
    w->module = load_module(w, "build/kernels/saxpy.so", "");
    create_kernel(w, &w->kernel);
    gpu.reset_calls();
    return 0;
}

char test_directory[64];

void need_registers_extension(world *w) {
    struct {
        ze_structure_type_t stype;
        void *next;
        uint32_t registers;
    } asked = {(ze_structure_type_t)0x00030012, NULL, 0};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, .pNext = &asked};
    ze_result_t result = zeKernelGetProperties(w->kernel, &properties);
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
        puts("skipped: this loader's validation layer refuses the extension for registers");
        skip();
    }
    ok(result);
}

/* In memory, if there is room: a file that replaces another waits for the disk on some file systems. Some of these
   files are programs. */
static const char *parent_of_directories(void) {
#ifdef ST_NOEXEC
    enum { LEAST_BYTES = 256 << 20 };
    struct statvfs memory;
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0 && statvfs("/dev/shm", &memory) == 0 &&
        !(memory.f_flag & (ST_NOEXEC | ST_RDONLY)) && memory.f_bavail >= LEAST_BYTES / memory.f_frsize)
        return "/dev/shm";
#endif
    return "/tmp";
}

int make_directory(void **state) {
    (void)state;
    snprintf(test_directory, sizeof test_directory, "%s/zetools-test-XXXXXX", parent_of_directories());
    return mkdtemp(test_directory) ? 0 : -1;
}

/* With all that is in it, but not what links lead to. */
static int remove_tree(const char *path) {
    DIR *directory = opendir(path);
    int result = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        char inner[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner) != 0)
            result |= remove_tree(inner);
    }
    if (directory)
        closedir(directory);
    return result | rmdir(path);
}

int remove_directory(void **state) {
    (void)state;
    return remove_tree(test_directory);
}

const char *in_directory(const char *name) {
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_directory, name);
    return path;
}

int occurrences(const char *text, const char *part) {
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

const char *line_of(const char *report, const char *beginning) {
    static char found[4096];
    const char *line = strstr(report, beginning);
    while (line && line != report && line[-1] != '\n')
        line = strstr(line + 1, beginning);
    if (!line)
        fail_msg("no line begins with '%s' in:\n%s", beginning, report);
    snprintf(found, sizeof found, "%.*s", (int)strcspn(line, "\n"), line);
    return found;
}

int64_t resident_size(void) {
    long long size = 0, resident = 0;
#if !INSTRUMENTED && defined(__linux__)
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lld %lld", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    resident *= sysconf(_SC_PAGESIZE);
#endif
    (void)size;
    return resident;
}

/* What an earlier test left behind is not this one's fault. */
static void check_ledger(uint64_t live_before) {
    char text[4096];
    if (gpu.findings() == 0 && gpu.live() <= live_before)
        return;
    gpu.ledger(text, sizeof text);
    fail_msg("the device's ledger:\n%s", text);
}

static void destroy_world(void **state) {
    world *w = (world *)*state;
    gpu.restore_device();
    hold_time(0);
    pass_sleeps(0);
    for (int i = 0; i < PROFILERS; i++)
        zt_close(w->profilers[i]);
    unsetenv("ZT_GROUPS");
    unsetenv("ZT_COLUMNS");
    gpu.reset();
    zeCommandQueueSynchronize(w->queue, A_WHILE);
    zeKernelDestroy(w->kernel);
    zeModuleDestroy(w->module);
    zeMemFree(w->context, w->ones);
    zeMemFree(w->context, w->sums);
    zeEventDestroy(w->done);
    zeEventPoolDestroy(w->event_pool);
    zeCommandListDestroy(w->list);
    zeCommandListDestroy(w->immediate);
    zeCommandQueueDestroy(w->queue);
    zeContextDestroy(w->context);
    free(w);
}

int close_world(void **state) {
    uint64_t live_before = ((world *)*state)->live_before;
    destroy_world(state);
    check_ledger(live_before);
    return 0;
}

/* There only in programs that look for leaks. */
#ifdef _WIN32
static void (*const __lsan_disable)(void) = NULL, (*const __lsan_enable)(void) = NULL;
#else
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));
#endif

int open_leaky_world(void **state) {
    if (__lsan_disable)
        __lsan_disable();
    return open_world(state);
}

int abandon_world(void **state) {
    destroy_world(state);
    if (__lsan_enable)
        __lsan_enable();
    return 0;
}

/* ==== work ================================================================================================ */

void launch_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel) {
    ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ok(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
}

void launch(world *w, ze_command_list_handle_t list) {
    launch_kernel(list, w->kernel);
    w->launches++;
}

void launch_in_every_way(world *w, ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t several,
                         ze_event_handle_t events[4]) {
    enum { MOST = 2 };
    ze_group_count_t groups = {WORK_GROUPS, 1, 1}, *shared = NULL;
    ze_kernel_handle_t kernels[MOST] = {kernel, kernel};
    ze_event_handle_t none[4] = {NULL};
    ze_event_handle_t *signal = events ? events : none;
    uint32_t *count = NULL, waits = events != NULL;
    ze_host_mem_alloc_desc_t host = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    assert_in_range(several, 1, MOST);
    ok(zeMemAllocHost(w->context, &host, MOST * sizeof groups, 64, (void **)&shared));
    ok(zeMemAllocHost(w->context, &host, sizeof *count, 64, (void **)&count));
    shared[0] = shared[1] = groups;
    *count = several;
    ok(zeCommandListAppendLaunchKernel(list, kernel, &groups, signal[0], 0, NULL));
    ok(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, signal[1], waits,
                                                  waits ? &signal[0] : NULL));
    ok(zeCommandListAppendLaunchKernelIndirect(list, kernel, shared, signal[2], waits,
                                               waits ? &signal[1] : NULL));
    ok(zeCommandListAppendLaunchMultipleKernelsIndirect(list, several, kernels, count, shared, signal[3],
                                                        waits, waits ? &signal[2] : NULL));
    finish_immediate(w, list);
    ok(zeMemFree(w->context, shared));
    ok(zeMemFree(w->context, count));
}

void finish_immediate(world *w, ze_command_list_handle_t list) {
    ok(zeCommandListAppendBarrier(list, w->done, 0, NULL));
    ok(zeEventHostSynchronize(w->done, A_WHILE));
    ok(zeEventHostReset(w->done));
}

void finish_queue(world *w) {
    ok(zeCommandQueueSynchronize(w->queue, A_WHILE));
}

void reset_list(ze_command_list_handle_t list) {
    ok(zeCommandListReset(list));
}

void execute_unprofiled(world *w, ze_command_list_handle_t list) {
    ok(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL));
    finish_queue(w);
}

void check_work(world *w) {
    finish_queue(w);
    finish_immediate(w, w->immediate);
    for (uint32_t i = 0; i < WORK_ITEMS; i++)
        if (w->sums[i] != (float)w->launches)
            fail_msg("item %u is %g after %u launches", i, (double)w->sums[i], w->launches);
}

/* ==== profilers =========================================================================================== */

static void keep_message(int result, const char *text, void *user) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* several threads may report */
    world *w = (world *)user;
    pthread_mutex_lock(&mutex);
    if (w->message_count < MESSAGES) {
        w->message_results[w->message_count] = result;
        snprintf(w->messages[w->message_count++], sizeof w->messages[0], "%s", text);
    }
    pthread_mutex_unlock(&mutex);
}

zt_config config_of(world *w) {
    zt_config config = {0};
    config.log = keep_message;
    config.log_user = w;
    config.wait_timeout_ns = A_WHILE;
    return config;
}

static void keep_profiler(world *w, zt_profiler *profiler) {
    for (int i = 0; i < PROFILERS; i++) {
        if (w->profilers[i])
            continue;
        w->profilers[i] = profiler;
        return;
    }
    fail_msg("too many profilers");
}

zt_profiler *open_on(world *w, ze_device_handle_t device, const zt_config *config) {
    zt_profiler *profiler = NULL;
    ok(zt_open(w->context, device, config, &profiler));
    assert_non_null(profiler);
    keep_profiler(w, profiler);
    return profiler;
}

zt_profiler *open_profiler(world *w, const zt_config *config) {
    return open_on(w, w->device, config);
}

zt_profiler *open_patiently(world *w, const zt_config *config) {
    zt_profiler *profiler = NULL;
    hold_time(1);
    ze_result_t result = zt_open(w->context, w->device, config, &profiler);
    hold_time(0);
    ok(result);
    assert_non_null(profiler);
    keep_profiler(w, profiler);
    return profiler;
}

zt_profiler *open_groups(world *w, const char *groups) {
    const char *text = NULL;
    zt_config config = config_of(w);
    config.groups = groups;
    zt_profiler *profiler = open_profiler(w, &config);
    text = zt_get_info(profiler).availability_text;
    if (zt_get_info(profiler).availability != ZT_AVAILABLE)
        fail_msg("no metrics: %s", text);
    return profiler;
}

zt_profiler *open_with_timeout(world *w, uint64_t wait_timeout_ns) {
    zt_config config = config_of(w);
    config.wait_timeout_ns = wait_timeout_ns;
    return open_patiently(w, &config);
}

zt_profiler *open_threaded(world *w) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic";
    config.thread = 1;
    return open_profiler(w, &config);
}

zt_profiler *open_two_passes(world *w) {
    zt_config config = config_of(w);
    config.groups = "ComputeBasic,MemoryProfile";
    config.max_passes = 2;
    return open_profiler(w, &config);
}

void close_profiler(world *w, zt_profiler *profiler) {
    for (int i = 0; i < PROFILERS; i++)
        if (w->profilers[i] == profiler)
            w->profilers[i] = NULL;
    zt_close(profiler);
}

int heard(const world *w, const char *text) {
    int count = 0;
    for (int i = 0; i < w->message_count; i++)
        count += strstr(w->messages[i], text) != NULL;
    return count;
}

void append_kernel(zt_profiler *profiler, ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                   const char *name) {
    zt_region region = zt_begin(profiler, list, name);
    launch_kernel(list, kernel);
    zt_end(&region);
}

void append(world *w, zt_profiler *profiler, ze_command_list_handle_t list, const char *name) {
    append_kernel(profiler, list, w->kernel, name);
}

void run(world *w, zt_profiler *profiler, const char *name) {
    append(w, profiler, w->immediate, name);
    w->launches++;
    finish_immediate(w, w->immediate);
}

void run_at_least(world *w, zt_profiler *profiler, const char *name, double ns) {
    ZT_REGION(profiler, w->immediate, name) {
        launch(w, w->immediate);
        finish_immediate(w, w->immediate); /* it has begun */
        ze_event_handle_t gate = append_gate(w, w->immediate);
        uint64_t begun = now_ns();
        while ((double)(now_ns() - begun) < ns)
            nap();
        ok(zeEventHostSignal(gate));
        finish_immediate(w, w->immediate);
        ok(zeEventDestroy(gate));
    }
}

static void append_turn(ze_command_list_handle_t list, ze_event_handle_t gate) {
    ok(zeCommandListAppendWaitOnEvents(list, 1, &gate));
    ok(zeCommandListAppendEventReset(list, gate));
}

held_region append_held(world *w, zt_profiler *profiler, const char *name) {
    held_region held;
    create_event(w, 1, &held.gate);
    create_event(w, 2, &held.inside);
    append_turn(w->list, held.gate);
    ZT_REGION(profiler, w->list, name) {
        launch_kernel(w->list, w->kernel);
        ok(zeCommandListAppendSignalEvent(w->list, held.inside));
        append_turn(w->list, held.gate);
    }
    ok(zeCommandListClose(w->list));
    return held;
}

void let_in(held_region held) {
    ok(zeEventHostReset(held.inside));
    ok(zeEventHostSignal(held.gate));
    ok(zeEventHostSynchronize(held.inside, UINT64_MAX));
}

void let_out(held_region held) {
    ok(zeEventHostSignal(held.gate));
}

void destroy_held(held_region held) {
    ok(zeEventDestroy(held.gate));
    ok(zeEventDestroy(held.inside));
}

zt_stream_counts end_stream(zt_stream *stream, zt_row_fn function, void *user) {
    zt_stream_counts counts;
    ok(zt_stream_close(stream, function, user, &counts));
    return counts;
}

void stream_marked_region(world *w, zt_profiler *profiler) {
    zt_stream_config config = {0};
    zt_stream *stream = NULL;
    config.profiler = profiler;
    ok(zt_stream_open(w->context, w->device, &config, &stream));
    zt_region region = zt_begin(profiler, w->immediate, "marked");
    for (int i = 0; i < 2; i++) {
        ok(zt_stream_mark(stream, w->immediate, "step"));
        launch(w, w->immediate);
    }
    zt_end(&region);
    ok(zt_stream_mark(stream, w->immediate, "end"));
    finish_immediate(w, w->immediate);
    collect_all(profiler);
    zt_stream_close(stream, NULL, NULL, NULL);
    collect_all(profiler);
}

void execute(world *w, zt_profiler *profiler, ze_command_list_handle_t list) {
    ok(zt_execute(profiler, w->queue, 1, &list, NULL));
    finish_queue(w);
}

/* ==== counts ============================================================================================== */

zt_counts counted(uint64_t begun, uint64_t collected, uint64_t lost, uint64_t dropped, uint64_t in_flight) {
    zt_counts counts = {begun, collected, lost, dropped, in_flight, 0};
    return counts;
}

static void check_causes(const zt_profiler *profiler, zt_counts counts) {
    uint64_t lost = 0, dropped = 0;
    for (int cause = 0; cause < ZT_CAUSE_COUNT; cause++)
        *(cause < ZT_DROPPED_NO_PROBE ? &lost : &dropped) +=
            zt_get_info(profiler).causes[(zt_cause)cause].count;
    assert_int_equal(lost, counts.lost);
    assert_int_equal(dropped, counts.dropped);
}

static void check_launches(zt_trace_counts counts) {
    uint64_t unmeasured = 0, serialised = 0;
    for (int i = 0; i < ZT_UNMEASURED_COUNT; i++)
        unmeasured += counts.unmeasured[i].count;
    for (int i = 0; i < ZT_SERIALISED_COUNT; i++)
        serialised += counts.serialised_by[i].count;
    assert_int_equal(unmeasured, counts.elsewhere);
    assert_int_equal(serialised, counts.serialised);
    assert_int_equal(counts.launches, counts.measured + counts.filtered + counts.elsewhere);
}

/* Tables break lines between words. */
static int notes_in(const zt_profiler *profiler, zt_format format, const char *sentence) {
    char *report = strdup(written_report(profiler, format));
    int found;
    assert_non_null(report);
    for (char *at = report; format == ZT_FORMAT_TABLE && *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    found = occurrences(report, sentence);
    free(report);
    return found;
}

static void expect_in_reports(const zt_profiler *profiler, uint64_t count, const char *why) {
    static const zt_format formats[] = {ZT_FORMAT_TABLE, ZT_FORMAT_JSON, ZT_FORMAT_HTML, ZT_FORMAT_CSV};
    char sentence[192];
    snprintf(sentence, sizeof sentence, "%u of %u launches %s", (unsigned)count,
             (unsigned)zt_get_info(profiler).launches.launches, why);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        assert_int_equal(notes_in(profiler, formats[i], sentence), count > 0);
}

void expect_unmeasured(const zt_profiler *profiler, zt_unmeasured cause, uint64_t count, const char *why) {
    zt_cause_count counted_as = zt_get_info(profiler).launches.unmeasured[cause];
    char sample[128];
    assert_int_equal(counted_as.count, count);
    expect_in_reports(profiler, count, why);
    snprintf(sample, sizeof sample, "unmeasured_launches_total{cause=\"%s\"} %u", counted_as.name,
             (unsigned)count);
    assert_contains(written_report(profiler, ZT_FORMAT_OPENMETRICS), sample);
}

void expect_serialised(const zt_profiler *profiler, zt_serialised cause, uint64_t count, const char *why) {
    char sentence[160];
    assert_int_equal(zt_get_info(profiler).launches.serialised_by[cause].count, count);
    snprintf(sentence, sizeof sentence,
             "were measured between barriers, and overlapped with nothing, because %s", why);
    expect_in_reports(profiler, count, sentence);
}

static void check_regions(const zt_profiler *profiler, zt_counts counts) {
    uint64_t collected = 0, lost = 0;
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, i, &info));
        if (info.is_phase)
            continue; /* its samples are those of regions */
        collected += info.count;
        lost += info.lost;
    }
    assert_int_equal(collected, counts.collected);
    assert_int_equal(lost, counts.lost);
}

/* The samples that recordings owe are those in flight, whenever no collection is under way. */
static void check_what_is_owed(const zt_profiler *checked) {
    zt_profiler *profiler = (zt_profiler *)(uintptr_t)checked;
    uint64_t due = 0, in_flight;
    if (!profiler || !profiler->device || zt__is_owner(&profiler->collector) ||
        !zt__try_lock(&profiler->collector))
        return;
    zt__lock(&profiler->mutex);
    for (const zt__recording *recording = profiler->all_recordings; recording;
         recording = recording->next_of_all)
        due += recording->due;
    in_flight = profiler->counts.begun - profiler->counts.collected - profiler->counts.lost -
                profiler->counts.dropped;
    zt__unlock(&profiler->mutex);
    zt__unlock_timed(&profiler->collector);
    assert_int_equal(due, in_flight);
}

void check_identity(const zt_profiler *profiler) {
    zt_counts counts = zt_get_info(profiler).counts;
    assert_int_equal(counts.begun, counts.collected + counts.lost + counts.dropped + counts.in_flight);
    check_what_is_owed(profiler);
    check_causes(profiler, counts);
    check_launches(zt_get_info(profiler).launches);
    check_regions(profiler, counts);
}

void collect_all(zt_profiler *profiler) {
    ok(zt_collect(profiler, A_WHILE));
    check_identity(profiler);
}

void assert_counts(const zt_profiler *profiler, zt_counts expected) {
    zt_counts got = zt_get_info(profiler).counts;
    check_identity(profiler);
    assert_int_equal(got.begun, expected.begun);
    assert_int_equal(got.collected, expected.collected);
    assert_int_equal(got.lost, expected.lost);
    assert_int_equal(got.dropped, expected.dropped);
    assert_int_equal(got.in_flight, expected.in_flight);
}

uint32_t find_region(const zt_profiler *profiler, const char *name) {
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++) {
        zt_region_info info;
        ok(zt_get_region(profiler, i, &info));
        if (strcmp(info.name, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

zt_region_info region_info(const zt_profiler *profiler, const char *name) {
    zt_region_info info;
    ok(zt_get_region(profiler, find_region(profiler, name), &info));
    return info;
}

zt_stats stats_of(const zt_profiler *profiler, const char *region, const char *metric) {
    zt_stats stats;
    ok(zt_get_stats(profiler, find_region(profiler, region), zt_find_metric(profiler, metric), &stats));
    return stats;
}

zet_metric_group_handle_t find_group(world *w, const char *name,
                                     zet_metric_group_sampling_type_flags_t type) {
    zet_metric_group_handle_t groups[32];
    uint32_t count = 32;
    ok(zetMetricGroupGet(w->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {
            ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES, NULL, "", "", 0, 0, 0};
        ok(zetMetricGroupGetProperties(groups[i], &properties));
        if (strcmp(properties.name, name) == 0 && properties.samplingType == type)
            return groups[i];
    }
    fail_msg("no group %s", name);
    return NULL;
}

/* ==== output ============================================================================================== */

static int saved_output = -1, saved_error = -1, captured = -1;

void capture_output(void) {
    char path[] = "/tmp/zetools-output-XXXXXX";
    fflush(NULL);
    captured = mkstemp(path);
    assert_true(captured >= 0);
    unlink(path);
    saved_output = dup(1);
    saved_error = dup(2);
    dup2(captured, 1);
    dup2(captured, 2);
}

/* What was captured is shown after all. */
static void show_captured(void) {
    char bytes[4096];
    lseek(captured, 0, SEEK_SET);
    for (ssize_t got; (got = read(captured, bytes, sizeof bytes)) > 0;)
        if (write(2, bytes, (size_t)got) != got)
            break;
}

size_t captured_output(void) {
    fflush(NULL);
    dup2(saved_output, 1);
    dup2(saved_error, 2);
    off_t size = lseek(captured, 0, SEEK_END);
    show_captured();
    close(saved_output);
    close(saved_error);
    close(captured);
    assert_true(size >= 0);
    return (size_t)size;
}

zt_profiler *repacked(const zt_profiler *profiler) {
    size_t size = 0;
    zt_profiler *back = NULL;
    ok(zt_pack(profiler, NULL, &size));
    void *buffer = malloc(size);
    assert_non_null(buffer);
    ok(zt_pack(profiler, buffer, &size));
    ok(zt_unpack(buffer, size, NULL, &back));
    free(buffer);
    return back;
}

/* ==== what a report says ================================================================================== */

int keep_text(const void *bytes, size_t size, void *text) {
    kept_text *to = (kept_text *)text;
    assert_true(to->used + size < sizeof to->bytes);
    memcpy(to->bytes + to->used, bytes, size);
    to->used += size;
    to->bytes[to->used] = 0;
    return 0;
}

const char *written_report(const zt_profiler *profiler, zt_format format) {
    static kept_text to;
    to.used = 0;
    ok(zt_write(profiler, format, keep_text, &to));
    return to.bytes;
}

/* ==== time ================================================================================================ */

uint64_t now_ns(void) {
    struct timespec now;
    advanced_clock(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void nap(void) {
    struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
}

/* ==== threads that may hang =============================================================================== */

void join_in_time(world *w, pthread_t thread) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(A_WHILE / 1000000000);
    if (pthread_timedjoin_np(thread, NULL, &end) == 0)
        return;
    memset(w->profilers, 0, sizeof w->profilers);
    fail_msg("a thread hangs");
}

void run_in_time(world *w, void *(*function)(void *argument), void *argument) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    join_in_time(w, thread);
}

static void *close_it(void *profiler) {
    zt_close((zt_profiler *)profiler);
    return NULL;
}

void close_in_time(world *w, zt_profiler *profiler) {
    run_in_time(w, close_it, profiler);
}

void await(const int *flag) {
    int64_t end = monotonic_ns() + (int64_t)A_WHILE;
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        if (monotonic_ns() > end)
            fail_msg("what was waited for does not happen");
        nap();
    }
}

#ifdef _WIN32

uint32_t count_threads(void) {
    return windows_count_threads();
}

uint32_t count_deaf_threads(void) {
    return 0; /* there are no signals */
}

#else

/* The signals that a thread of this process blocks, a bit each from SIGHUP on. */
static uint64_t blocked_signals(const char *thread) {
    char path[300], line[256];
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
            break;
    if (file)
        fclose(file);
    return blocked;
}

/* One that was joined is listed until the system has taken it down, which on a busy machine takes a while. */
static int has_ended(const char *thread) {
    enum { EXITING = 4 }; /* PF_EXITING of the kernel, in its flags */
    char path[300], line[1024] = "";
    unsigned flags = EXITING;
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file) && strrchr(line, ')'))
        sscanf(strrchr(line, ')'), ") %*c %*d %*d %*d %*d %*d %u", &flags);
    if (file)
        fclose(file);
    return (flags & EXITING) != 0;
}

static uint32_t count_threads_that_block(uint64_t signals) {
    uint32_t count = 0;
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;)
        count += entry->d_name[0] != '.' && (blocked_signals(entry->d_name) & signals) == signals &&
                 !has_ended(entry->d_name);
    closedir(threads);
    return count;
}

uint32_t count_threads(void) {
    return count_threads_that_block(0);
}

uint32_t count_deaf_threads(void) {
    static const int signals[] = {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGPROF};
    uint64_t all = 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        all |= UINT64_C(1) << (signals[i] - 1);
    return count_threads_that_block(all);
}

#endif

uint32_t count_threads_left(uint32_t expected) {
#ifdef __aarch64__
    for (uint64_t end = now_ns() + A_WHILE; count_threads() > expected && now_ns() < end;)
        nap();
#else
    (void)expected;
#endif
    return count_threads();
}

void find_span(const zt_profiler *profiler, const char *name, double *begin, double *end) {
    char start[256];
    int length = snprintf(start, sizeof start, "\n{\"ph\":\"X\",\"name\":\"%s\",", name);
    assert_in_range(length, 1, sizeof start - 1);
    const char *span = strstr(written_report(profiler, ZT_FORMAT_TRACE), start);
    assert_non_null(span);
    const char *ts = strstr(span, "\"ts\":"), *dur = strstr(span, "\"dur\":"), *line = strchr(span + 1, '\n');
    assert_true(ts && dur && line && ts < line && dur < line);
    *begin = strtod(ts + strlen("\"ts\":"), NULL) * 1e3;
    *end = *begin + strtod(dur + strlen("\"dur\":"), NULL) * 1e3;
}
