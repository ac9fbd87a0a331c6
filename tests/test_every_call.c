/* Every call fails once. Each scenario below is run again and again, with the first, second, ... last call of
   the driver failing, once and for ever after, with each of six results; the same for each allocation, for
   each system call that the library makes. After each of these cases: nothing has crashed or hung, nothing is
   leaked, the kernels' results are right, everything is counted, and the error names the call that failed. What
   an example does can fail, too: it then ends by itself, well or with a message.

   Not among them is what cannot fail for the arguments that it is given (mutexes, conditions, clocks, signal
   masks, numbers of processes and users).

   A short run takes every n-th case, and fewer of slow scenarios. A failing case prints how to run it alone:

   ZT_CASES=all                                      every case
   ZT_CASES=all ZT_CASE=streams:                     every case of a scenario; streams:exit: of its exits
   ZT_CASE=streams:zeEventCreate:3:0x70000001:ever   this one alone
   ZT_CASE=streams:exit:3                            the program exits in the third call of the driver */
#define _GNU_SOURCE
#include "endless.h"
#include "softgpu/system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ==== what fails ========================================================================================== */

/* Calls that can fail: of the driver, allocations, and calls of the system that the library makes. */
typedef enum source { DRIVER, ALLOCATOR, HEAP, SYSTEM } source;

static const struct site {
    source of;
    const char *name;
} sites[] = {
    {ALLOCATOR, "allocator"},
    {HEAP, "heap"},
    {SYSTEM, "fopen"},
    {SYSTEM, "tmpfile"},
    {SYSTEM, "fclose"},
    {SYSTEM, "fwrite"},
    {SYSTEM, "fread"},
    {SYSTEM, "rename"},
    {SYSTEM, "remove"},
    {SYSTEM, "mkdir"},
    {SYSTEM, "readlink"},
    {SYSTEM, "pipe2"},
    {SYSTEM, "poll"},
    {SYSTEM, "read"},
    {SYSTEM, "posix_spawnp"},
    {SYSTEM, "pthread_create"},
    {SYSTEM, "write"},
    {SYSTEM, "open"},
    {SYSTEM, "fdopen"},
    {SYSTEM, "close"},
    {SYSTEM, "fflush"},
    {SYSTEM, "fchmod"},
    {SYSTEM, "fchown"},
    {SYSTEM, "fcntl"},
    {SYSTEM, "waitpid"},
    {SYSTEM, "kill"},
    {SYSTEM, "unsetenv"},
    {SYSTEM, "stat"},
    {SYSTEM, "unlink"},
    {SYSTEM, "getcwd"},
    {SYSTEM, "realpath"},
    {SYSTEM, "lseek"},
    {SYSTEM, "ioctl"},
    {SYSTEM, "dlopen"},
    {SYSTEM, "fgets"},
    {SYSTEM, "setenv"},
    {SYSTEM, "pthread_key_create"},
    {SYSTEM, "pthread_setspecific"},
    {SYSTEM, "pthread_atfork"},
    {SYSTEM, "posix_spawn_file_actions_adddup2"},
    {SYSTEM, "posix_spawn_file_actions_addopen"},
#define SG_FUNCTION(table, slot, version, kind, name, parameters, arguments) {DRIVER, #name},
#include "softgpu/functions.def"
#undef SG_FUNCTION
};
enum { SITES = sizeof sites / sizeof sites[0] };

/* For how long: the call alone; this one and all after it until the profiler is closed; or for ever. */
typedef enum duration { ONCE, LONG, EVER, DURATIONS } duration;
static const char *const duration_names[DURATIONS] = {"once", "long", "ever"};

typedef struct fault {
    const struct site *at;
    uint32_t number; /* of the call, from 1; 0: nothing fails */
    uint32_t result; /* of a call of the driver; of the system, errno */
    duration lasts;
} fault;

enum { RESULTS = 6 };
static const uint32_t driver_results[RESULTS] = {
    ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
    ZE_RESULT_ERROR_DEVICE_LOST,        ZE_RESULT_ERROR_UNKNOWN,
    ZE_RESULT_ERROR_NOT_AVAILABLE,      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE};
static const uint32_t system_results[RESULTS] = {EIO, ENOSPC, EMFILE, EACCES, ENOMEM, EINTR};

static uint32_t results_of(source of) {
    return of == DRIVER || of == SYSTEM ? RESULTS : 1;
}

static uint32_t result_of(source of, uint32_t index) {
    return of == DRIVER ? driver_results[index] : of == SYSTEM ? system_results[index] : 0;
}

/* ---- an allocator of the application --------------------------------------------------------------------- */

static struct {
    uint32_t count, fails_at;
    int for_ever;
    int blocks;
} memory;

static void *allocate(size_t size, void *user) {
    (void)user;
    uint32_t number = __atomic_add_fetch(&memory.count, 1, __ATOMIC_RELAXED);
    uint32_t fails_at = __atomic_load_n(&memory.fails_at, __ATOMIC_RELAXED);
    if (fails_at && (memory.for_ever ? number >= fails_at : number == fails_at))
        return NULL;
    __atomic_add_fetch(&memory.blocks, 1, __ATOMIC_RELAXED);
    return malloc(size);
}

static void release(void *block, void *user) {
    (void)user;
    if (block)
        __atomic_sub_fetch(&memory.blocks, 1, __ATOMIC_RELAXED);
    free(block);
}

/* ---- the system: calls of this program's own code, which is the library's -------------------------------- */

static struct {
    int counts; /* not 0: while a scenario runs */
    uint32_t count[SITES];
    const struct site *fails_at;
    uint32_t number;
    uint32_t error;
    int for_ever;
    const char *failed; /* the first */
} calls_of_system;

/* Not 0: calls of this thread are the application's. */
static _Thread_local int is_own_part;

extern const char __executable_start[], etext[];

static uint32_t site_named(const char *name) {
    uint32_t i = 0;
    while (i < SITES && strcmp(sites[i].name, name) != 0)
        i++;
    return i;
}

static int system_fails(const char *name, const void *caller) {
    const char *at = caller;
    if (at < __executable_start || at >= etext)
        return 0;
    if (is_own_part || !__atomic_load_n(&calls_of_system.counts, __ATOMIC_RELAXED))
        return 0;
    uint32_t site = site_named(name);
    uint32_t number = __atomic_add_fetch(&calls_of_system.count[site], 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&calls_of_system.fails_at, __ATOMIC_RELAXED) == &sites[site] &&
        number == calls_of_system.number)
        __atomic_store_n(&calls_of_system.failed, name, __ATOMIC_RELAXED);
    else if (!__atomic_load_n(&calls_of_system.failed, __ATOMIC_RELAXED) || !calls_of_system.for_ever)
        return 0;
    errno = (int)calls_of_system.error;
    return 1;
}

#define FAILS(name) system_fails(name, __builtin_return_address(0))

FILE *fopen(const char *path, const char *mode) {
    return FAILS("fopen") ? NULL : REAL(fopen)(path, mode);
}

FILE *tmpfile(void) {
    return FAILS("tmpfile") ? NULL : REAL(tmpfile)();
}

int fclose(FILE *file) {
    int fails = FAILS("fclose"), error = errno;
    int result = REAL(fclose)(file);
    if (fails)
        errno = error;
    return fails ? EOF : result;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    return FAILS("fwrite") ? 0 : REAL(fwrite)(bytes, size, count, file);
}

size_t fread(void *bytes, size_t size, size_t count, FILE *file) {
    return FAILS("fread") ? 0 : REAL(fread)(bytes, size, count, file);
}

int rename(const char *from, const char *to) {
    return FAILS("rename") ? -1 : REAL(rename)(from, to);
}

int remove(const char *path) {
    return FAILS("remove") ? -1 : REAL(remove)(path);
}

int mkdir(const char *path, mode_t mode) {
    return FAILS("mkdir") ? -1 : REAL(mkdir)(path, mode);
}

ssize_t readlink(const char *path, char *target, size_t size) {
    return FAILS("readlink") ? -1 : REAL(readlink)(path, target, size);
}

int pipe2(int ends[2], int flags) {
    return FAILS("pipe2") ? -1 : REAL(pipe2)(ends, flags);
}

int poll(struct pollfd *files, nfds_t count, int timeout) {
    return FAILS("poll") ? -1 : REAL(poll)(files, count, timeout);
}

ssize_t read(int file, void *bytes, size_t size) {
    return FAILS("read") ? -1 : REAL(read)(file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size) {
    return FAILS("write") ? -1 : REAL(write)(file, bytes, size);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return FAILS("open") ? -1 : REAL(open)(path, flags, mode);
}

FILE *fdopen(int file, const char *mode) {
    return FAILS("fdopen") ? NULL : REAL(fdopen)(file, mode);
}

int close(int file) {
    int fails = FAILS("close"), error = errno;
    int result = REAL(close)(file);
    if (fails)
        errno = error;
    return fails ? -1 : result;
}

int fflush(FILE *file) {
    return FAILS("fflush") ? EOF : REAL(fflush)(file);
}

int fchmod(int file, mode_t mode) {
    return FAILS("fchmod") ? -1 : REAL(fchmod)(file, mode);
}

int fchown(int file, uid_t user, gid_t group) {
    return FAILS("fchown") ? -1 : REAL(fchown)(file, user, group);
}

/* What follows the command is a number or a pointer, such as that of gcov's lock of a file. */
int fcntl(int file, int command, ...) {
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return FAILS("fcntl") ? -1 : REAL(fcntl)(file, command, argument);
}

pid_t waitpid(pid_t child, int *status, int options) {
    return FAILS("waitpid") ? -1 : REAL(waitpid)(child, status, options);
}

int kill(pid_t child, int number) {
    return FAILS("kill") ? -1 : REAL(kill)(child, number);
}

int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    if (FAILS("posix_spawnp"))
        return (int)calls_of_system.error;
    return REAL(posix_spawnp)(child, file, actions, attributes, arguments, environment);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument) {
    if (FAILS("pthread_create"))
        return (int)calls_of_system.error;
    return REAL(pthread_create)(thread, attributes, function, argument);
}

int stat(const char *path, struct stat *status) {
    return FAILS("stat") ? -1 : REAL(stat)(path, status);
}

int unsetenv(const char *name) {
    return FAILS("unsetenv") ? -1 : REAL(unsetenv)(name);
}

int unlink(const char *path) {
    return FAILS("unlink") ? -1 : REAL(unlink)(path);
}

char *getcwd(char *path, size_t size) {
    return FAILS("getcwd") ? NULL : REAL(getcwd)(path, size);
}

char *realpath(const char *path, char *resolved) {
    return FAILS("realpath") ? NULL : REAL(realpath)(path, resolved);
}

off_t lseek(int file, off_t offset, int from) {
    return FAILS("lseek") ? -1 : REAL(lseek)(file, offset, from);
}

/* The library asks for the size of the terminal alone. */
int ioctl(int file, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    return FAILS("ioctl") ? -1 : REAL(ioctl)(file, request, argument);
}

void *dlopen(const char *path, int mode) {
    return FAILS("dlopen") ? NULL : REAL(dlopen)(path, mode);
}

char *fgets(char *line, int size, FILE *file) {
    return FAILS("fgets") ? NULL : REAL(fgets)(line, size, file);
}

int setenv(const char *name, const char *value, int replaces) {
    return FAILS("setenv") ? -1 : REAL(setenv)(name, value, replaces);
}

#if !INSTRUMENTED /* ThreadSanitizer calls these before instrumented code can run */
int pthread_key_create(pthread_key_t *key, void (*destroy)(void *value)) {
    return FAILS("pthread_key_create") ? (int)calls_of_system.error : REAL(pthread_key_create)(key, destroy);
}

/* A thread needs memory for the first value of a key, and keeps it. */
int pthread_setspecific(pthread_key_t key, const void *value) {
    static _Thread_local uint64_t keys_with_memory[PTHREAD_KEYS_MAX / 64];
    uint64_t *keys = &keys_with_memory[key / 64], bit = UINT64_C(1) << key % 64;
    if (!(*keys & bit) && FAILS("pthread_setspecific"))
        return (int)calls_of_system.error;
    *keys |= bit;
    return REAL(pthread_setspecific)(key, value);
}
#endif

/* What the C library links into each program calls this. */
extern int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                             void *library);
int pthread_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    if (FAILS("pthread_atfork"))
        return (int)calls_of_system.error;
    return __register_atfork(before, in_parent, in_child, NULL);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int file, int copy) {
    if (FAILS("posix_spawn_file_actions_adddup2"))
        return (int)calls_of_system.error;
    return REAL(posix_spawn_file_actions_adddup2)(actions, file, copy);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int file, const char *path,
                                     int flags, mode_t mode) {
    if (FAILS("posix_spawn_file_actions_addopen"))
        return (int)calls_of_system.error;
    return REAL(posix_spawn_file_actions_addopen)(actions, file, path, flags, mode);
}

/* A failed destruction leaves what it should have destroyed. */
static int is_destruction(const char *function) {
    return function &&
           (strstr(function, "Destroy") != NULL || strcmp(function, "zeMemFree") == 0 ||
            strcmp(function, "zetMetricStreamerClose") == 0 || strcmp(function, "zetDebugDetach") == 0);
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

static void arm(fault this_one) {
    source of = this_one.at->of;
    int for_ever = this_one.lasts != ONCE;
    memset(&memory, 0, sizeof memory);
    memset(&calls_of_system, 0, sizeof calls_of_system);
    gpu.reset_calls();
    if (of == ALLOCATOR)
        memory.fails_at = this_one.number;
    if (of == HEAP)
        fail_heap(this_one.number, for_ever);
    if (of == DRIVER)
        gpu.fail_any(this_one.at->name, this_one.number, this_one.result, for_ever);
    if (of == SYSTEM)
        calls_of_system.fails_at = this_one.at;
    memory.for_ever = calls_of_system.for_ever = for_ever;
    calls_of_system.number = this_one.number;
    calls_of_system.error = this_one.result;
    calls_of_system.counts = 1;
}

/* What the application does in between, in which nothing fails. */
static void begin_own_part(void) {
    gpu.pause_faults(1);
    is_own_part = 1;
}

static void end_own_part(void) {
    is_own_part = 0;
    gpu.pause_faults(0);
}

/* Threads of the library may run. */
static void end_fault(void) {
    __atomic_store_n(&memory.fails_at, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&calls_of_system.fails_at, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&calls_of_system.failed, NULL, __ATOMIC_RELAXED);
    fail_heap(0, 0);
    gpu.fail_any(NULL, 0, 0, 0);
}

/* ==== a case ============================================================================================== */

typedef struct scenario {
    const char *name;
    void (*run)(world *w);
    uint32_t sparsity; /* a short run takes one of so many cases, of those that it would take of others */
} scenario;

static struct {
    fault fault;
    const world *w;
    zt_profiler *profiler;
    const char *failed; /* the call that has failed, or NULL */
    uint64_t heap_before;
    uint32_t counts[SITES]; /* how many there were */
    int is_told;            /* an error names it */
    int is_refused;         /* some function of the library has returned an error */
    int is_threaded;        /* the profiler has a thread that collects */
    int may_keep_session;   /* a debug session could not be detached */
    int has_lost_device;    /* by a fault of a kernel */
} now;

static int device_is_lost(void) {
    return now.has_lost_device || (now.fault.at->of == DRIVER && now.fault.lasts != ONCE &&
                                   now.fault.result == ZE_RESULT_ERROR_DEVICE_LOST && gpu.failed_call());
}

static const char *failed_call(void) {
    return now.fault.at->of == DRIVER   ? gpu.failed_call()
           : now.fault.at->of == SYSTEM ? __atomic_load_n(&calls_of_system.failed, __ATOMIC_RELAXED)
                                        : NULL;
}

static void hear(const char *text) {
    const char *failed = now.failed ? now.failed : failed_call();
    now.is_told |= failed && text && strstr(text, failed);
}

/* A call of the library. Returns whether it has succeeded. */
static int did(ze_result_t result) {
    const char *text;
    if (result == ZE_RESULT_SUCCESS)
        return 1;
    now.is_refused = 1;
    text = zt_last_error(NULL);
    hear(text);
    if (now.profiler) {
        text = zt_get_info(now.profiler).error;
        hear(text);
    }
    return 0;
}

/* A call of the library that does the driver's of that name, and returns its result. */
static int did_for_driver(ze_result_t result) {
    now.is_told |= result != ZE_RESULT_SUCCESS && (uint32_t)result == now.fault.result;
    return did(result);
}

/* The application's own call. */
#define app(call) app_((call), #call)
static int app_(ze_result_t result, const char *call) {
    if (result != ZE_RESULT_SUCCESS)
        hear(call);
    return result == ZE_RESULT_SUCCESS;
}

/* What an application does that waits and repeats until it succeeds. */
#define surely(call)                                                                                         \
    do {                                                                                                     \
        gpu.pause_faults(1);                                                                                 \
        ze_result_t result_ = (call);                                                                        \
        gpu.pause_faults(0);                                                                                 \
        if (!device_is_lost())                                                                               \
            ok(result_);                                                                                     \
    } while (0)

/* Waits are short where a driver that fails for long would have each of them last to its end. */
static int is_patient(void) {
    return now.fault.at->of != DRIVER || now.fault.lasts == ONCE;
}

static uint64_t patience(void) {
    return is_patient() ? 1000000000 : 2000000;
}

static zt_config config_for(world *w, const char *groups) {
    zt_config config = config_of(w);
    config.groups = groups;
    config.probes_per_step = 4;
    config.wait_timeout_ns = patience();
    config.allocator.allocate = allocate;
    config.allocator.release = release;
    return config;
}

static zt_profiler *open_with(world *w, const zt_config *config) {
    if (!did(zt_open(w->context, w->device, config, &now.profiler)))
        assert_null(now.profiler);
    return now.profiler;
}

static zt_profiler *open_here(world *w, const char *groups) {
    zt_config config = config_for(w, groups);
    return open_with(w, &config);
}

/* All that was submitted has run. */
static void finish(world *w) {
    surely(zeCommandListAppendBarrier(w->immediate, w->done, 0, NULL));
    surely(zeEventHostSynchronize(w->done, A_WHILE));
    surely(zeEventHostReset(w->done));
    surely(zeCommandQueueSynchronize(w->queue, A_WHILE));
}

static void collect(uint64_t timeout_ns) {
    did(zt_collect(now.profiler, timeout_ns));
}

/* What fails for long does not fail any more. */
static void end_long_fault(void) {
    if (now.fault.lasts == LONG && !device_is_lost() && !now.failed) {
        now.failed = failed_call();
        end_fault();
    }
}

static void close_here(void) {
    zt_profiler *profiler = now.profiler;
    if (!now.is_threaded) /* else counts change while they are compared */
        check_identity(profiler);
    if (profiler) {
        const char *text = zt_get_info(profiler).error;
        hear(text);
    }
    now.profiler = NULL;
    end_long_fault();
    zt_close(profiler);
}

/* ==== scenarios =========================================================================================== */

static uint32_t app_launch(world *w, ze_command_list_handle_t list) {
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    return (uint32_t)app(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, NULL, 0, NULL));
}

/* Returns how many launches it has appended. */
static uint32_t nested(world *w, ze_command_list_handle_t list) {
    uint32_t launches = 0;
    zt_region outer = zt_begin(now.profiler, list, "outer");
    launches += app_launch(w, list);
    zt_region inner = zt_begin(now.profiler, list, "inner");
    launches += app_launch(w, list);
    zt_end(&inner);
    zt_end(&outer);
    return launches;
}

static int discard(const void *bytes, size_t size, void *user) {
    (void)bytes, (void)size, (void)user;
    return 0;
}

/* Whatever has failed, what there is can be asked for. */
static void ask_about_region(uint32_t region) {
    const zt_profiler *profiler = now.profiler;
    zt_region_info info;
    zt_limit_info limit;
    zt_stats streamed;
    zt_stats stats;
    ok(zt_get_region(profiler, region, &info));
    ok(zt_get_limit(profiler, region, &limit));
    assert_non_null(limit.name);
    for (uint32_t time = ZT_GPU_TIME; time <= ZT_LAUNCH_LATENCY; time++)
        ok(zt_get_stats(profiler, region, time, &stats));
    for (uint32_t i = 0; i < zt_get_info(profiler).pass_count; i++)
        ok(zt_get_stats(profiler, region, ZT_PASS_TIME(i), &stats));
    for (uint32_t i = 0; i < zt_get_info(profiler).metric_count; i++) {
        const zt_metric *metric = zt_get_metric(profiler, i);
        assert_int_equal(zt_find_metric(profiler, metric->name), i);
        ok(zt_get_stats(profiler, region, i, &stats));
        assert_true(stats.count <= info.count);
        for (uint32_t tile = 0; tile < zt_get_info(profiler).tile_count; tile++)
            ok(zt_get_stats(profiler, region, ZT_TILE(tile, i), &stats));
    }
    for (uint32_t i = 0; i < zt_get_info(profiler).streamed_count; i++) {
        assert_non_null(zt_get_metric(profiler, ZT_STREAMED(i)));
        ok(zt_get_stats(profiler, region, ZT_STREAMED(i), &streamed));
    }
}

static void ask_about_all(void) {
    const zt_profiler *profiler = now.profiler;
    zt_call_info call;
    zt_region_info path;
    if (!profiler)
        return;
    for (uint32_t i = 0; i < zt_get_info(profiler).region_count; i++)
        ask_about_region(i);
    for (uint32_t i = 0; i < zt_get_info(profiler).path_count; i++)
        ok(zt_get_region(profiler, ZT_PATH(i), &path));
    for (uint32_t i = 0; i < zt_get_info(profiler).call_count; i++)
        ok(zt_get_call(profiler, i, &call));
    zt_get_timeline(profiler);
    zt_get_info(profiler);
    assert_non_null(zt_get_info(profiler).availability_text);
    assert_true(zt_get_info(profiler).availability != ZT_AVAILABILITY_UNKNOWN);
    assert_non_null(zt_result_name(last_result()));
}

static void run_figures(world *w) {
    zt_config config = config_for(w, "ComputeBasic");
    zt_group group;
    gpu.set_devices(1, 2);
    config.timeline = 16;
    open_with(w, &config);
    did(zt_set_operations(now.profiler, "inner", 1e6));
    did(zt_set_peaks(now.profiler, 1e11, 1e12, NULL));
    for (int i = 0; i < 2; i++)
        ZT_REGION(now.profiler, w->immediate, "around")
    w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    ask_about_all();
    did(zt_find_group(w->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, &group));
    did(zt_write(now.profiler, ZT_FORMAT_HTML, discard, NULL));
    close_here();
}

static void run_immediate(world *w) {
    open_here(w, "ComputeBasic,HostScheduler");
    for (int i = 0; i < 3; i++)
        w->launches += nested(w, w->immediate);
    collect(0);
    check_identity(now.profiler);
    finish(w);
    collect(patience());
    close_here();
}

static void run_times(world *w) {
    open_here(w, "");
    w->launches += nested(w, w->immediate);
    w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    close_here();
}

static void reset_recorded(world *w) {
    if (!did_for_driver(zt_reset(now.profiler, w->list)))
        surely(zeCommandListReset(w->list));
}

static void run_recorded(world *w) {
    open_here(w, "ComputeBasic");
    for (int turn = 0; turn < 2; turn++) {
        uint32_t launches = nested(w, w->list);
        if (!app(zeCommandListClose(w->list)))
            surely(zeCommandListClose(w->list));
        for (int i = 0; i < 2; i++)
            w->launches +=
                did_for_driver(zt_execute(now.profiler, w->queue, 1, &w->list, NULL)) ? launches : 0;
        check_identity(now.profiler);
        finish(w);
        reset_recorded(w);
    }
    collect(patience());
    close_here();
}

static void run_unobserved(world *w) {
    open_here(w, "ComputeBasic");
    uint32_t launches = nested(w, w->list);
    if (!app(zeCommandListClose(w->list)))
        surely(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++) {
        w->launches += app(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL)) ? launches : 0;
        finish(w);
        collect(patience());
        if (failed_call() && strstr(failed_call(), "Reset"))
            break; /* nobody can keep a plain call from executing what is not reset */
    }
    did(zt_release(now.profiler, w->list));
    close_here();
}

static void run_thread(world *w) {
    zt_config config = config_for(w, "ComputeBasic");
    config.thread = 1;
    open_with(w, &config);
    for (int i = 0; i < 3; i++)
        w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    now.is_threaded = 1;
    close_here();
}

static void run_timeline(world *w) {
    zt_config config = config_for(w, "ComputeBasic");
    config.timeline = 16;
    open_with(w, &config);
    did(zt_name_list(now.profiler, w->immediate, "work"));
    w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    did(zt_write(now.profiler, ZT_FORMAT_TRACE, discard, NULL));
    did(zt_write(now.profiler, ZT_FORMAT_INSTANCES, discard, NULL));
    close_here();
}

static void run_power(world *w) {
    zt_config config = config_for(w, "");
    config.power = 1;
    open_with(w, &config);
    ZT_PHASE("solve") {
        w->launches += nested(w, w->immediate);
        finish(w);
    }
    collect(patience());
    zt_get_info(now.profiler);
    did(zt_write(now.profiler, ZT_FORMAT_JSON, discard, NULL));
    close_here();
}

static void run_passes(world *w) {
    zt_config config = config_for(w, "ComputeBasic,MemoryProfile");
    config.max_passes = 2;
    open_with(w, &config);
    ZT_PASSES(now.profiler) {
        w->launches += nested(w, w->immediate);
        finish(w);
    }
    close_here();
}

static void run_tiles(world *w) {
    gpu.set_devices(1, 2);
    open_here(w, "ComputeBasic");
    w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    did(zt_write(now.profiler, ZT_FORMAT_TABLE, discard, NULL));
    close_here();
}

static int count_row(const zt_row *row, void *user) {
    (void)row;
    ++*(int *)user;
    return 0;
}

static void run_streams(world *w) {
    zt_config config = config_for(w, "");
    zt_stream_config sampling = {0};
    zt_stream *stream = NULL;
    int rows = 0;
    config.timeline = 16;
    open_with(w, &config);
    sampling.profiler = now.profiler;
    sampling.period_ns = 4000000000u; /* reports come by markers alone */
    sampling.memory_limit = 1 << 16;
    sampling.timeline_rows = 16;
    sampling.log = config.log;
    sampling.log_user = config.log_user;
    sampling.allocator = config.allocator;
    did(zt_stream_open(w->context, w->device, &sampling, &stream));
    for (int i = 0; i < 3; i++) {
        did(zt_stream_mark(stream, w->immediate, "step"));
        w->launches += nested(w, w->immediate);
    }
    finish(w);
    did(zt_stream_read(stream, 0, count_row, &rows));
    zt_stream_info info = zt_stream_get_info(stream);
    for (uint32_t i = 0; i < info.metric_count; i++)
        assert_int_equal(zt_stream_find_metric(stream, info.metrics[i].name), i);
    if (stream)
        hear(zt_stream_get_info(stream).error);
    collect(patience());
    ask_about_all();
    zt_stream_close(stream, count_row, &rows, NULL);
    close_here();
}

static void trace(world *w, const char *groups, int copies) {
    zt_trace_config config = {0};
    config.copies = copies;
    config.calls = "zeCommandList*";
    open_here(w, groups);
    did(zt_trace_start(now.profiler, &config));
    for (int i = 0; i < 2; i++)
        w->launches += app_launch(w, w->immediate);
    app(zeCommandListAppendMemoryCopy(w->immediate, w->ones + 128, w->ones, 64, NULL, 0, NULL));
    uint32_t launches = app_launch(w, w->list);
    if (!app(zeCommandListClose(w->list)))
        surely(zeCommandListClose(w->list));
    for (int i = 0; i < 2; i++)
        w->launches += app(zeCommandQueueExecuteCommandLists(w->queue, 1, &w->list, NULL)) ? launches : 0;
    finish(w);
    surely(zeCommandListReset(w->list));
    collect(patience());
    did(zt_trace_stop(now.profiler));
    ask_about_all();
    did(zt_write(now.profiler, ZT_FORMAT_TABLE, discard, NULL));
    close_here();
}

static void run_tracer(world *w) {
    trace(w, "ComputeBasic", 0);
}

static void run_tracer_times(world *w) {
    trace(w, "", 1);
}

static native_binary saxpy;

/* A module that is created while a tracer watches, and its kernel in place of the world's. */
static void launch_new_module(world *w, void (*after)(world *w, ze_kernel_handle_t kernel)) {
    ze_module_desc_t desc = {
        ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_NATIVE, saxpy.size, saxpy.bytes, "", NULL};
    ze_kernel_desc_t name = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "saxpy"};
    const ze_group_count_t groups = {WORK_GROUPS, 1, 1};
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;
    uint32_t count = WORK_ITEMS;
    float factor = 1;
    if (!app(zeModuleCreate(w->context, w->device, &desc, &module, NULL)))
        return;
    if (app(zeKernelCreate(module, &name, &kernel)) &&
        app(zeKernelSetGroupSize(kernel, WORK_ITEMS / WORK_GROUPS, 1, 1)) &&
        app(zeKernelSetArgumentValue(kernel, 0, sizeof w->sums, &w->sums)) &&
        app(zeKernelSetArgumentValue(kernel, 1, sizeof w->ones, &w->ones)) &&
        app(zeKernelSetArgumentValue(kernel, 2, sizeof factor, &factor)) &&
        app(zeKernelSetArgumentValue(kernel, 3, sizeof count, &count)))
        w->launches +=
            (uint32_t)app(zeCommandListAppendLaunchKernel(w->immediate, kernel, &groups, NULL, 0, NULL));
    if (kernel && after)
        after(w, kernel);
    finish(w);
    if (kernel)
        app(zeKernelDestroy(kernel));
    app(zeModuleDestroy(module));
}

static void run_kernels(world *w) {
    zt_kernel_info info;
    open_here(w, "");
    did(zt_trace_start(now.profiler, NULL));
    launch_new_module(w, NULL);
    collect(patience());
    for (uint32_t i = 0; i < zt_get_info(now.profiler).kernel_count; i++)
        did(zt_get_kernel(now.profiler, i, &info));
    did(zt_trace_stop(now.profiler));
    did(zt_write(now.profiler, ZT_FORMAT_JSON, discard, NULL));
    close_here();
}

static void run_modules(world *w) {
    zt_trace_config config = {0};
    config.modules = in_directory("modules");
    open_here(w, "");
    did(zt_replace(now.profiler, "saxpy", w->module, NULL));
    did(zt_trace_start(now.profiler, &config));
    launch_new_module(w, NULL);
    collect(patience());
    did(zt_trace_stop(now.profiler));
    did(zt_replace(now.profiler, NULL, NULL, NULL));
    close_here();
}

/* Gives samples to an instruction of the kernel. */
static void sample_kernel(world *w, ze_kernel_handle_t kernel) {
    ze_result_t (*find_base)(ze_kernel_handle_t kernel, uint64_t * base) = NULL;
    uint64_t base = 0;
    surely(zeDriverGetExtensionFunctionAddress(w->driver, "zexKernelGetBaseAddress", (void **)&find_base));
    if (find_base && find_base(kernel, &base) == ZE_RESULT_SUCCESS)
        gpu.give_samples("SbidStall", base + 16, 3);
    collect(0);
}

static void run_hotspots(world *w) {
    zt_hotspots_config config = {0};
    zt_hotspot_info hotspot;
    config.no_thread = 1;
    config.memory_limit = 1 << 16;
    config.addresses = 64;
    gpu.behave(SOFTGPU_STALL_SAMPLING, 1);
    open_here(w, "");
    did(zt_trace_start(now.profiler, NULL));
    did(zt_hotspots_start(now.profiler, &config));
    launch_new_module(w, sample_kernel);
    did(zt_hotspots_stop(now.profiler));
    for (uint32_t i = 0; i < zt_get_info(now.profiler).hotspot_count; i++)
        ok(zt_get_hotspot(now.profiler, i, &hotspot));
    zt_get_info(now.profiler);
    did(zt_trace_stop(now.profiler));
    did(zt_write(now.profiler, ZT_FORMAT_TABLE, discard, NULL));
    close_here();
}

static const char *const report_names[] = {"run.txt",  "run.csv",    "run.json",       "run.html",
                                           "run.prom", "run.folded", "run.trace.json", "run.instances.csv"};
enum { REPORTS = sizeof report_names / sizeof report_names[0] };

/* Those whose ends tell that they are whole, and these ends. */
static const struct {
    const char *name, *end;
} whole_reports[] = {{"run.json", "}\n"}, {"run.html", "</html>\n"}, {"run.prom", "# EOF\n"}};
enum { WHOLE_REPORTS = sizeof whole_reports / sizeof whole_reports[0] };

static void put_old_reports(void) {
    begin_own_part();
    for (int i = 0; i < WHOLE_REPORTS; i++) {
        FILE *file = fopen(in_directory(whole_reports[i].name), "w");
        assert_non_null(file);
        fputs("old", file);
        assert_int_equal(fchmod(fileno(file), 0600), 0);
        fclose(file);
    }
    end_own_part();
}

/* Each is the old one, or the new one, and whole. None may be read by more people than the old one. */
static void check_reports(void) {
    begin_own_part();
    for (int i = 0; i < WHOLE_REPORTS; i++) {
        const char *end = whole_reports[i].end;
        char text[16] = "";
        struct stat seen;
        FILE *file = fopen(in_directory(whole_reports[i].name), "r");
        assert_non_null(file);
        assert_int_equal(fstat(fileno(file), &seen), 0);
        assert_int_equal(seen.st_mode & 0777, 0600);
        if (fseek(file, -(long)strlen(end), SEEK_END) != 0)
            rewind(file); /* it is shorter */
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        rewind(file);
        if (strcmp(text, end) != 0)
            text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        if (strcmp(text, end) != 0 && strcmp(text, "old") != 0)
            fail_msg("%s ends with '%s'", whole_reports[i].name, text);
    }
    end_own_part();
}

static void run_reports(world *w) {
    zt_config config = config_for(w, "ComputeBasic");
    put_old_reports();
    config.timeline = 16;
    open_with(w, &config);
    w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    for (int i = 0; i < REPORTS; i++)
        did(zt_report(now.profiler, in_directory(report_names[i])));
    did(zt_write_groups(w->device, 1, discard, NULL));
    close_here();
    check_reports();
}

static void run_merging(world *w) {
    static uint8_t bytes[1 << 16];
    size_t size = sizeof bytes;
    zt_profiler *unpacked = NULL;
    zt_config config = config_for(w, NULL);
    open_here(w, "ComputeBasic");
    w->launches += nested(w, w->immediate);
    finish(w);
    collect(patience());
    if (now.profiler && did(zt_pack(now.profiler, bytes, &size)) &&
        did(zt_unpack(bytes, size, &config, &unpacked))) {
        did(zt_merge(unpacked, now.profiler));
        did(zt_merge(now.profiler, unpacked));
        check_identity(unpacked);
        did(zt_write(unpacked, ZT_FORMAT_CSV, discard, NULL));
    }
    zt_close(unpacked);
    close_here();
}

static int run_job(zt_profiler *profiler, void *user) {
    world *w = user;
    zt_region region = zt_begin(profiler, w->immediate, "work");
    uint32_t launches = app_launch(w, w->immediate);
    zt_end(&region);
    w->launches += launches;
    finish(w);
    return launches == 0;
}

static zt_bench_config config_of_bench(world *w) {
    zt_bench_config config;
    memset(&config, 0, sizeof config);
    config.run = run_job;
    config.user = w;
    config.min_time_ns = 1;
    config.precision = 1;
    config.warm_up = 1;
    config.counter_runs = 1;
    return config;
}

static void run_bench(world *w) {
    static zt_bench_result result;
    zt_bench_changes changes;
    zt_bench_config config = config_of_bench(w);
    open_here(w, "ComputeBasic");
    did(zt_bench(now.profiler, &config, &result));
    if (did(zt_report_benches(now.profiler, &result, 1, in_directory("bench.csv"))))
        did(zt_compare_benches(now.profiler, &result, 1, in_directory("bench.csv"),
                               in_directory("change.txt"), &changes));
    close_here();
}

static void run_comparison(world *w) {
    static zt_comparison comparison;
    zt_bench_config config = config_of_bench(w);
    open_here(w, "");
    did(zt_compare(now.profiler, &config, &config, &comparison));
    did(zt_write_benches(now.profiler, &comparison.a, 1, discard, NULL));
    close_here();
}

/* ---- program debug, and what uses it --------------------------------------------------------------------- */

static const zt_debug_thread all_threads = {ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL, ZT_DEBUG_ALL};

/* While every call fails, a session cannot be detached, nor what it has stopped be resumed: the device ends
   it. */
static void leave_session(void) {
    now.may_keep_session =
        is_destruction(now.fault.at->name) || (now.fault.at->of == DRIVER && now.fault.lasts != ONCE);
    begin_own_part();
    if (now.may_keep_session)
        gpu.detach_debuggers(ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    end_own_part();
}

/* Lets the kernel end, and frees it: the application's part, which does not fail. The engine of a device that
   was lost may still run it. */
static void end_kernel(world *w, work *of) {
    begin_own_part();
    __atomic_store_n(&of->words[STOP], 1, __ATOMIC_RELAXED);
    if (device_is_lost()) {
        gpu.restore_device();
        launch_work(of);
    }
    finish_work(w, of);
    end_own_part();
}

/* Examines the first thread that is stopped. */
static void examine(zt_debugger *debugger, const work *of) {
    zt_debug_thread_info threads[4];
    zt_debug_registers found;
    zt_debug_place place;
    uint32_t word = 0, count = 4, found_count = 1;
    uint8_t value[64];
    if (!did(zt_debug_get_threads(debugger, threads, &count)) || count == 0)
        return;
    did(zt_debug_read(debugger, threads[0].thread, ZT_DEBUG_MEMORY, (uintptr_t)&of->words[COUNT], &word,
                      sizeof word));
    did(zt_debug_write(debugger, threads[0].thread, ZT_DEBUG_MEMORY, (uintptr_t)&of->words[RESULT], &word,
                       sizeof word));
    if (did(zt_debug_get_registers(debugger, "r0", &found, &found_count)) && found.bytes <= sizeof value &&
        did(zt_debug_read(debugger, threads[0].thread, found.space, found.address, value, found.bytes)))
        did(zt_debug_write(debugger, threads[0].thread, found.space, found.address, value, found.bytes));
    did(zt_debug_where(debugger, threads[0].address, &place));
}

static zt_debugger *attach(world *w) {
    zt_debug_config config = {0};
    zt_config of_world = config_for(w, "");
    zt_debugger *debugger = NULL;
    config.log = of_world.log;
    config.log_user = w;
    config.allocator = of_world.allocator;
    config.wait_timeout_ns = patience();
    gpu.behave(SOFTGPU_DEBUG_NOT_ENABLED, 0);
    if (!did(zt_debug_open(w->device, 0, &config, &debugger)))
        assert_null(debugger);
    return debugger;
}

/* A zt_debug_fn. */
static int see_event(zt_debugger *debugger, const zt_debug_event *event, void *user) {
    (void)debugger, (void)user;
    assert_true(event->name[0]);
    return 0;
}

static void ask_about_debugger(zt_debugger *debugger) {
    uint32_t count = 0;
    zt_debug_get_registers(debugger, NULL, NULL, &count);
    assert_non_null(zt_result_name(last_result()));
}

/* The module waits for the debugger to acknowledge it. Closing resumes what is stopped. */
static void run_debug(world *w) {
    zt_debugger *debugger = attach(w);
    zt_debug_stops stops;
    if (device_is_lost()) {
        did(zt_debug_close(debugger));
        return;
    }
    begin_own_part();
    work of = begin_on(w, w->device, "count");
    end_own_part();
    did(zt_debug_wait(debugger, patience(), see_event, NULL));
    if (!now.is_refused && !failed_call())
        await((const int *)&of.words[COUNT]);
    did(zt_debug_stop(debugger, all_threads, patience(), &stops));
    examine(debugger, &of);
    did(zt_debug_resume(debugger, all_threads));
    did(zt_debug_stop(debugger, all_threads, patience(), NULL));
    ask_about_debugger(debugger);
    end_long_fault();
    did(zt_debug_close(debugger));
    leave_session();
    if (!device_is_lost())
        assert_counts_on(&of);
    end_kernel(w, &of);
}

static int hangs_heard;
static void hear_hang(const zt_hang *hang, void *user) {
    (void)hang, (void)user;
    __atomic_add_fetch(&hangs_heard, 1, __ATOMIC_SEQ_CST);
}

static const char *const hang_file = "hang.txt";

static void begin_watching(world *w, uint64_t hang_ns) {
    zt_watch_config config = {0};
    config.hang_ns = hang_ns;
    config.path = in_directory(hang_file);
    config.function = hear_hang;
    hangs_heard = 0;
    open_here(w, "");
    did(zt_watch(now.profiler, &config));
}

/* In a region of a list of its own. Returns whether the device has it. */
static int begin_in_region(world *w, work *of) {
    zt_region region = zt_begin(now.profiler, of->list, "work");
    surely(
        zeCommandListAppendLaunchKernel(of->list, of->kernel, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
    zt_end(&region);
    surely(zeCommandListClose(of->list));
    return did_for_driver(zt_execute(now.profiler, w->queue, 1, &of->list, NULL));
}

static work load_in_list(world *w, const char *name) {
    ze_command_list_handle_t list;
    begin_own_part();
    create_list(w, &list);
    work of = load_work_on(w, w->device, name, list);
    end_own_part();
    return of;
}

/* What is watched is reported, unless it fails for longer. */
static void await_report(void) {
    uint64_t end = now_ns() + A_WHILE;
    int is_expected = now.fault.lasts == ONCE && zt_get_info(now.profiler).watch.is_watching &&
                      zt_get_info(now.profiler).counts.in_flight > 0;
    for (int i = 0; (is_expected || i < 60) && !__atomic_load_n(&hangs_heard, __ATOMIC_SEQ_CST); i++) {
        assert_true(now_ns() < end);
        nap();
    }
}

static void end_watching(void) {
    end_long_fault();
    did(zt_watch_stop(now.profiler));
    leave_session();
}

/* The device is done with the list. */
static void end_list(world *w, work *of) {
    begin_own_part();
    if (device_is_lost())
        gpu.restore_device();
    ok(zeCommandListReset(of->list));
    launch_work(of);
    ok(zeCommandListClose(of->list));
    execute_unprofiled(w, of->list);
    unload_work(w, of);
    end_own_part();
}

static void run_watch(world *w) {
    work of = load_in_list(w, "count");
    begin_watching(w, 20000000);
    int runs = begin_in_region(w, &of);
    if (runs && !device_is_lost())
        await_report();
    end_watching();
    if (runs && !device_is_lost())
        assert_counts_on(&of);
    __atomic_store_n(&of.words[STOP], 1, __ATOMIC_RELAXED);
    surely(zeCommandQueueSynchronize(w->queue, A_WHILE));
    collect(patience());
    close_here();
    end_list(w, &of);
}

static const scenario scenarios[] = {
    {"immediate", run_immediate, 1},   {"times", run_times, 1},     {"recorded", run_recorded, 1},
    {"unobserved", run_unobserved, 1}, {"thread", run_thread, 1},   {"timeline", run_timeline, 1},
    {"power", run_power, 1},           {"passes", run_passes, 1},   {"tiles", run_tiles, 1},
    {"streams", run_streams, 1},       {"tracer", run_tracer, 1},   {"tracer_times", run_tracer_times, 1},
    {"kernels", run_kernels, 1},       {"modules", run_modules, 1}, {"hotspots", run_hotspots, 1},
    {"reports", run_reports, 1},       {"merging", run_merging, 1}, {"benchmark", run_bench, 1},
    {"comparison", run_comparison, 1}, {"figures", run_figures, 1}, {"debug", run_debug, 3},
    {"watch", run_watch, 13},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

/* ==== what must hold after each case ====================================================================== */

/* Shared with the process that waits: the case that runs, and how many there were. */
static struct progress {
    char text[256];
    uint64_t cases;
    uint64_t reached; /* in which something has failed */
    uint64_t told;
    uint32_t counts[SITES]; /* of a process that exits */
    int64_t kept;           /* blocks that it needs once */
} * progress;

static void fail_case(const char *what) {
    for (int i = 0; i < now.w->message_count; i++)
        print_error("message: %s\n", now.w->messages[i]);
    fail_msg("%s\nTo run it again: ZT_CASE=%s tests/run-tests.sh test_every_call\nfailed: %s", what,
             progress->text, now.failed ? now.failed : "-");
}

static uint32_t count_descriptors(void) {
    uint32_t count = 0;
    DIR *open = opendir("/proc/self/fd");
    while (open && readdir(open))
        count++;
    closedir(open);
    return count;
}

/* The device closes its connection to a process that has ended when it notices: also that of the case before,
   where a helper was killed, so that there may be fewer than at first. */
static int has_open_files(uint32_t before) {
    uint64_t end = now_ns() + A_WHILE;
    while (count_descriptors() > before && now_ns() < end)
        nap();
    return count_descriptors() > before;
}

/* While every call fails, the library does not learn whether the device is done with something, and leaves it
   to the device; so it does where a device is too slow for a short timeout. */
static void check_ledger(const world *w, uint64_t live) {
    if (is_destruction(now.fault.at->name))
        return;
    /* A device that says it is lost and is not goes on, with queries that were not reset for it. So does one
       that is too slow for a short timeout. */
    if ((now.fault.result == ZE_RESULT_ERROR_DEVICE_LOST && now.fault.lasts == ONCE) ||
        heard(w, "[OVERWRITTEN]"))
        gpu.forget_findings();
    char text[4096];
    int was_slow =
        heard(w, "[DROPPED_RUNNING]") || heard(w, "[NOT_FINISHED]") || heard(w, "zeEventQueryStatus failed");
    int may_leave =
        now.fault.at->of == DRIVER &&
        ((was_slow && (now.failed || !is_patient())) ||
         (now.failed && (now.fault.lasts == EVER || now.may_keep_session || heard(w, "read failed"))));
    if ((gpu.live() == live || (may_leave && gpu.live() > live)) && gpu.findings() == 0)
        return;
    gpu.ledger(text, sizeof text);
    print_error("%s\n", text);
    fail_case("the device's ledger is not as it was");
}

extern void __lsan_disable(void) __attribute__((weak)); /* there only in programs that look for leaks */

static void count_calls(void) {
    for (uint32_t i = 0; i < SITES; i++)
        now.counts[i] = sites[i].of == DRIVER ? (uint32_t)calls(sites[i].name) : calls_of_system.count[i];
    now.counts[site_named("allocator")] = memory.count;
    now.counts[site_named("heap")] = (uint32_t)(heap_allocations() - now.heap_before);
}

/* Calls whose failure needs no error, and why. */
static int is_silent(const char *call) {
    static const char *const calls_without_error[] = {
        /* repeated, until it succeeds or something is lost, which is reported */
        "zeEventQueryStatus", "zetMetricQueryGetData", "zeCommandQueueSynchronize",
        "zetMetricGroupCalculateMetricValues", "zetMetricGroupCalculateMultipleMetricValuesExp",
        /* tried again, so that nothing is left stopped */
        "zetDebugResume", "zetDebugAcknowledgeEvent",
        /* tries whether the counters are free, before the pools that are used */
        "zetMetricQueryPoolCreate",
        /* what is not known is left out */
        "zeDeviceGetSubDevices", "zeDriverGet", "zeDeviceGet", "zeDriverGetProperties",
        "zeDevicePciGetPropertiesExt", "zeDeviceGetGlobalTimestamps", "zeDeviceGetMemoryProperties",
        "zeDeviceGetProperties", "zeDeviceGetComputeProperties", "zeKernelGetName", "zeKernelGetProperties",
        "zeModuleGetNativeBinary", "zeKernelGetBinaryExp", "zetKernelGetProfileInfo", "zetModuleGetDebugInfo",
        "zexKernelGetBaseAddress", "zeDriverGetExtensionFunctionAddress",
        "zeDeviceGetCommandQueueGroupProperties", "zeCommandListIsImmediate", "zeCommandListGetOrdinal",
        "zeCommandListGetIndex", "zeCommandListGetFlags", "zeCommandListImmediateGetFlags",
        "zetMetricGroupGetGlobalTimestampsExp", "zeCommandListGetDeviceHandle",
        "zeCommandListGetContextHandle", "zetDeviceGetConcurrentMetricGroupsExp",
        "zesDeviceEnumFrequencyDomains", "zesFrequencyGetProperties", "zesFrequencyGetState",
        "zesDeviceEnumTemperatureSensors", "zesTemperatureGetProperties", "zesTemperatureGetState",
        "zesPowerGetProperties",
        "zesPowerGetEnergyCounter", /* another domain is taken, or a reading left out */
        "streams:zetMetricGroupGetProperties" /* for their clock */};
    size_t i = 0, count = sizeof calls_without_error / sizeof calls_without_error[0];
    while (i < count && strcmp(calls_without_error[i], call) != 0 &&
           strncmp(calls_without_error[i], progress->text, strlen(calls_without_error[i])) != 0)
        i++;
    /* By the specification, there is nothing to stop, or a thread is not stopped. */
    int is_answer = strncmp(call, "zetDebug", 8) == 0 && now.fault.result == ZE_RESULT_ERROR_NOT_AVAILABLE;
    return i < count || is_answer || is_destruction(call);
}

static void check_case(world *w, uint64_t live, int64_t bytes, uint32_t descriptors) {
    int lost = device_is_lost();
    for (int i = 0; i < w->message_count; i++)
        hear(w->messages[i]);
    if (!now.failed)
        now.failed = failed_call();
    int told = now.is_told || (now.fault.at->of == SYSTEM && (now.is_refused || w->message_count));
    calls_of_system.counts = 0;
    end_fault();
    if (lost)
        gpu.restore_device();
    else
        check_work(w);
    if ((heap_bytes() != bytes && progress->cases > 1) || memory.blocks != 0)
        fail_case("memory is leaked");
    /* A device that does not end a debugger's session keeps its connection. */
    int may_leave = is_destruction(now.fault.at->name) ||
                    (now.fault.at->of == DRIVER && now.fault.lasts != ONCE && now.failed);
    if (progress->cases > 1 && !may_leave && has_open_files(descriptors))
        fail_case("a file is left open");
    check_ledger(w, live);
    progress->reached += now.failed != NULL;
    progress->told += now.failed && told;
    if (now.failed && !told && now.fault.at->of == DRIVER && now.fault.lasts == ONCE &&
        !is_silent(now.failed))
        fail_case("no error names the call");
}

static void run_case(const scenario *of, fault this_one) {
    void *state = NULL;
    memset(&now, 0, sizeof now);
    now.fault = this_one;
    snprintf(progress->text, sizeof progress->text, "%s:%s:%u:0x%x:%s", of->name, this_one.at->name,
             this_one.number, this_one.result, duration_names[this_one.lasts]);
    progress->cases++;
    open_world(&state);
    uint64_t live = gpu.live();
    int64_t bytes = heap_bytes();
    uint32_t descriptors = count_descriptors();
    now.w = state;
    now.heap_before = heap_allocations();
    arm(this_one);
    of->run(state);
    count_calls();
    check_case(state, live, bytes, descriptors);
    int is_dirty = is_destruction(this_one.at->name) || gpu.live() != live;
    if (is_dirty && __lsan_disable)
        __lsan_disable();
    is_dirty ? abandon_world(&state) : close_world(&state);
}

/* ==== all cases of a scenario ============================================================================= */

/* A short run takes one of so many cases; a prime, so that all calls and results have their turn. */
#ifdef COVERAGE
enum { SHORT_STRIDE = 7 };
#else
enum { SHORT_STRIDE = INSTRUMENTED ? 37 : 23 };
#endif

static uint64_t stride(uint32_t sparsity) {
    const char *cases = getenv("ZT_CASES");
    return cases && strcmp(cases, "all") == 0 ? 1 : SHORT_STRIDE * (uint64_t)sparsity;
}

/* Of calls that poll, there are a few or many, and those in the middle are alike. */
static uint32_t next_number(uint32_t number, uint32_t count) {
    uint32_t next = number < 40 ? number + 1 : number + number / 8;
    return number < count && next > count ? count : next;
}

typedef void (*run_fn)(const scenario *of, fault this_one);

static void run_cases_at(const scenario *of, run_fn run_one, const struct site *at, uint32_t count,
                         uint64_t *index) {
    int most = is_destruction(at->name) ? LONG : DURATIONS;
    for (uint32_t result = 0; result < results_of(at->of); result++) {
        /* No signal interrupts every call for ever. */
        int durations = at->of == SYSTEM && result_of(at->of, result) == EINTR ? LONG : most;
        for (int lasts = 0; lasts < durations; lasts++)
            for (uint32_t number = 1; number <= count; number = next_number(number, count)) {
                fault next = {at, number, result_of(at->of, result), (duration)lasts};
                if (++*index % stride(of->sparsity) == 0)
                    run_one(of, next);
            }
    }
}

/* Destructions last, since a streamer that is not closed keeps the counters. */
static void run_cases(const scenario *of, run_fn run_one, const uint32_t counts[SITES]) {
    uint64_t index = 0;
    for (int destructions = 0; destructions < 2; destructions++)
        for (uint32_t i = 0; i < SITES; i++)
            if (is_destruction(sites[i].name) == destructions)
                run_cases_at(of, run_one, &sites[i], counts[i], &index);
}

/* ZT_CASE is this one's: returns 1, and what it says. */
static int read_case(const scenario *of, fault *only) {
    const char *text = getenv("ZT_CASE");
    char name[32], function[80], lasts[8];
    if (!text ||
        sscanf(text, "%31[^:]:%79[^:]:%u:0x%x:%7s", name, function, &only->number, &only->result, lasts) !=
            5 ||
        strcmp(name, of->name) != 0 || site_named(function) == SITES)
        return 0;
    only->at = &sites[site_named(function)];
    for (int i = 0; i < DURATIONS; i++)
        if (strcmp(lasts, duration_names[i]) == 0)
            only->lasts = (duration)i;
    return 1;
}

static const scenario *chosen;

static void test_scenario(void **state) {
    uint32_t counts[SITES];
    fault none = {sites, 0, 0, ONCE}, only = none;
    (void)state;
    saxpy = read_binary("build/kernels/saxpy.so");
    for (int i = 0; i < 2; i++) /* the first makes what is needed once */
        run_case(chosen, none);
    memcpy(counts, now.counts, sizeof counts);
    if (read_case(chosen, &only))
        run_case(chosen, only);
    else
        run_cases(chosen, run_case, counts);
    free(saxpy.bytes);
}

/* ---- each in a process of its own, so that one that crashes or hangs names its case ---------------------- */

static void set_environment(void) {
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
}

static void run_process(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenario)};
    set_environment();
    int failed = cmocka_run_group_tests_name(chosen->name, tests, start, NULL);
    fflush(NULL);
    _exit(failed);
}

static void print_output(FILE *output) {
    char line[4096];
    rewind(output);
    while (fgets(line, sizeof line, output))
        print_error("%s", line);
}

/* Waits for a process that goes on from case to case. Returns its status, or -1 if a case hangs. */
static int await_process(pid_t child) {
    enum { LONGEST_CASE_MS = 60000 };
    uint64_t cases = 0;
    int status = 0;
    for (int still = 0; still < LONGEST_CASE_MS; still++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        uint64_t seen = __atomic_load_n(&progress->cases, __ATOMIC_RELAXED);
        if (seen != cases)
            still = 0;
        cases = seen;
        nap();
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static uint64_t all_cases, all_reached, all_told;

static void test_every_call(void **state) {
    const char *only = getenv("ZT_CASE");
    chosen = *state;
    if (only && (strstr(only, ":exit:") || strncmp(only, chosen->name, strlen(chosen->name)) != 0 ||
                 only[strlen(chosen->name)] != ':'))
        skip();
    memset(progress, 0, sizeof *progress);
    FILE *output = tmpfile();
    assert_non_null(output);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(output), 1);
        dup2(fileno(output), 2);
        run_process();
    }
    int status = await_process(child);
    all_cases += progress->cases;
    all_reached += progress->reached;
    all_told += progress->told;
    if (status != 0)
        print_output(output);
    fclose(output);
    if (status != 0)
        fail_msg("%s, in ZT_CASE=%s", status < 0 ? "a case hangs" : "a case has failed", progress->text);
    print_message("%s: %llu cases\n", chosen->name, (unsigned long long)progress->cases);
}

/* ==== the program exits inside of a call ================================================================== */

/* What an exit handler of a driver or a signal would do, too: exit() is called by the n-th call of the driver,
   on whatever thread makes it. The library and the loader then end while that call never returns. */

enum { EXIT_STATUS = 67, NOT_REACHED = 68 };

static uint64_t exits_at; /* 0: no call, and they are counted */

static void test_exit(void **state) {
    static world *w;
    void *made = NULL;
    (void)state;
    memset(&now, 0, sizeof now);
    now.fault = (fault){sites, 0, 0, ONCE};
    saxpy = read_binary("build/kernels/saxpy.so");
    open_world(&made);
    w = made;
    now.w = w;
    arm(now.fault);
    if (exits_at)
        gpu.fail_any(NULL, exits_at, SOFTGPU_EXITS + EXIT_STATUS, 0);
    chosen->run(w);
    progress->reached = calls(NULL);
}

/* Runs a scenario in a process of its own. Returns whether it has reached the call, and has exited. */
static int run_exit(const scenario *of, uint64_t number) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exit)};
    FILE *output = tmpfile();
    assert_non_null(output);
    chosen = of;
    exits_at = number;
    memset(progress, 0, sizeof *progress);
    snprintf(progress->text, sizeof progress->text, "%s:exit:%llu", of->name, (unsigned long long)number);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(output), 1);
        dup2(fileno(output), 2);
        set_environment();
        int failed = cmocka_run_group_tests_name(of->name, tests, start, NULL);
        fflush(NULL);
        while (gpu.failed_call()) /* another thread exits, which this one's calls may feel */
            pause();
        _exit(failed ? failed : NOT_REACHED);
    }
    int status = await_process(child);
    int has_exited = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS;
    int is_well = has_exited || (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_REACHED);
    if (!is_well)
        print_output(output);
    fclose(output);
    if (!is_well)
        fail_msg("ZT_CASE=%s: %s, status 0x%x", progress->text, status < 0 ? "it hangs" : "it has not exited",
                 (unsigned)status);
    return has_exited;
}

/* Calls that poll are not always as many, so that the last ones may not be reached. */
static void test_exits(void **state) {
    enum { EXITS = 3 }; /* of each scenario, in a short run */
    const char *only = getenv("ZT_CASE"), *rest = only ? strstr(only, ":exit:") : NULL;
    uint64_t cases = 0, exits = 0;
    (void)state;
    if (INSTRUMENTED) {
        puts("skipped: sanitizers have exit statuses of their own");
        skip();
    }
    if (only && !rest)
        skip();
    for (uint32_t i = 0; i < SCENARIOS; i++) {
        const scenario *of = &scenarios[i];
        if (rest && (strncmp(only, of->name, strlen(of->name)) != 0 || only + strlen(of->name) != rest))
            continue;
        if (rest && rest[6]) {
            run_exit(of, strtoull(rest + 6, NULL, 10));
            return;
        }
        run_exit(of, 0);
        const uint64_t count = progress->reached, step = stride(1) == 1 ? 1 : count / EXITS + 1;
        for (uint64_t number = 1 + i % step; number <= count; number += step, cases++)
            exits += (uint64_t)run_exit(of, number);
    }
    all_cases += cases;
    print_message("exit: %llu cases, in %llu of which the program has exited\n", (unsigned long long)cases,
                  (unsigned long long)exits);
    if (!rest)
        assert_true(exits >= SCENARIOS / 2);
}

/* ==== zt_auto ============================================================================================= */

/* It traces until the process exits, and reports then. So each case is a process of its own. */

static const scenario automatic = {"auto", NULL, 3};
static int64_t blocks_before_auto;
static FILE *output_of_auto;

static int is_on_standard_error(const char *text) {
    static char output[1 << 16];
    ssize_t size = pread(fileno(output_of_auto), output, sizeof output - 1, 0);
    output[size > 0 ? size : 0] = 0;
    return strstr(output, text) != NULL;
}

static void assert_new_report(void) {
    FILE *file = fopen(in_directory(whole_reports[0].name), "r");
    assert_non_null(file);
    assert_int_equal(fgetc(file), '{');
    fclose(file);
}

/* Called at exit, when the library is done. */
static void check_auto(void) {
    const world *w = now.w;
    now.failed = failed_call();
    count_calls();
    calls_of_system.counts = 0;
    int has_refused = now.fault.at->of == SYSTEM && now.is_refused;
    end_fault();
    for (int i = 0; i < w->message_count; i++)
        hear(w->messages[i]);
    fflush(NULL);
    int told = now.is_told || has_refused || (now.failed && is_on_standard_error(now.failed));
    memcpy(progress->counts, now.counts, sizeof progress->counts);
    progress->reached += now.failed != NULL;
    progress->told += now.failed && told;
    is_own_part = 1;
    check_reports();
    if (now.fault.number == 0)
        assert_new_report();
    int64_t kept = heap_blocks() - blocks_before_auto;
    if (now.fault.number == 0)
        progress->kept = kept;
    if (memory.blocks != 0 || kept > progress->kept)
        fail_case("memory is leaked");
    if (now.failed && !told && now.fault.at->of == DRIVER && now.fault.lasts == ONCE &&
        !is_silent(now.failed))
        fail_case("no error names the call");
}

/* Lists that are created before are not measured. */
static void run_traced(world *w) {
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t immediate = NULL, list = NULL;
    if (app(zeCommandListCreateImmediate(w->context, w->device, &queue, &immediate)))
        for (int i = 0; i < 2; i++)
            w->launches += app_launch(w, immediate);
    if (app(zeCommandListCreate(w->context, w->device, &desc, &list))) {
        uint32_t launches = app_launch(w, list);
        if (!app(zeCommandListClose(list)))
            surely(zeCommandListClose(list));
        w->launches += app(zeCommandQueueExecuteCommandLists(w->queue, 1, &list, NULL)) ? launches : 0;
    }
    if (immediate) {
        surely(zeCommandListAppendBarrier(immediate, w->done, 0, NULL));
        surely(zeEventHostSynchronize(w->done, A_WHILE));
        app(zeCommandListDestroy(immediate));
    }
    surely(zeCommandQueueSynchronize(w->queue, A_WHILE));
    if (list)
        app(zeCommandListDestroy(list));
}

static void test_auto(void **state) {
    zt_auto_config config = {0};
    char reports[3 * PATH_MAX] = "";
    fault this_one = now.fault;
    void *made = NULL;
    (void)state;
    for (int i = 0; i < WHOLE_REPORTS; i++) {
        size_t length = strlen(reports);
        snprintf(reports + length, sizeof reports - length, "%s%s", i ? "," : "",
                 in_directory(whole_reports[i].name));
    }
    open_world(&made);
    world *w = made;
    now.w = w;
    put_old_reports();
    config.report = reports;
    config.profiler = config_for(w, "ComputeBasic");
    config.profiler.timeline = 16;
    zt_last_error(NULL); /* what a message of the thread needs is there */
    blocks_before_auto = heap_blocks();
    now.heap_before = heap_allocations();
    assert_int_equal(atexit(check_auto), 0);
    arm(this_one);
    did(zt_auto(&config));
    run_traced(w);
    begin_own_part();
    if (!device_is_lost())
        check_work(w);
    end_own_part();
}

/* Each case is a process of its own, with a test of its own. */
static void run_in_process(const scenario *of, fault this_one, void (*test)(void **state),
                           int (*begin)(void **state)) {
    const struct CMUnitTest tests[] = {{of->name, test, NULL, NULL, NULL}};
    snprintf(progress->text, sizeof progress->text, "%s:%s:%u:0x%x:%s", of->name, this_one.at->name,
             this_one.number, this_one.result, duration_names[this_one.lasts]);
    progress->cases++;
    output_of_auto = tmpfile();
    assert_non_null(output_of_auto);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(output_of_auto), 1);
        dup2(fileno(output_of_auto), 2);
        set_environment();
        memset(&now, 0, sizeof now);
        now.fault = this_one;
        exit(cmocka_run_group_tests_name(of->name, tests, begin, NULL));
    }
    int status = await_process(child);
    if (status != 0)
        print_output(output_of_auto);
    fclose(output_of_auto);
    if (status != 0)
        fail_msg("ZT_CASE=%s: %s, status 0x%x", progress->text, status < 0 ? "it hangs" : "it has failed",
                 (unsigned)status);
}

static void run_auto(const scenario *of, fault this_one) {
    run_in_process(of, this_one, test_auto, start);
}

/* All cases of such a scenario. */
static void test_in_processes(const scenario *of, run_fn run_one) {
    const char *text = getenv("ZT_CASE");
    const size_t length = strlen(of->name);
    fault none = {sites, 0, 0, ONCE}, only = none;
    uint32_t counts[SITES];
    if (INSTRUMENTED || (text && (strncmp(text, of->name, length) != 0 || text[length] != ':')))
        skip();
    memset(progress, 0, sizeof *progress);
    run_one(of, none);
    memcpy(counts, progress->counts, sizeof counts);
    if (read_case(of, &only))
        run_one(of, only);
    else
        run_cases(of, run_one, counts);
    all_cases += progress->cases;
    all_reached += progress->reached;
    all_told += progress->told;
    print_message("%s: %llu cases\n", of->name, (unsigned long long)progress->cases);
}

static void test_automatic(void **state) {
    (void)state;
    test_in_processes(&automatic, run_auto);
}

/* ==== the first use of the library in a process =========================================================== */

/* What a process needs once is made then, so each case is a process of its own. In it, the library is used in
   vain at first, if the call fails once, and is then used as ever. */

static const scenario first_use = {"first_use", NULL, 1};

static void *use_on_thread(void *user) {
    (void)user;
    zt_last_error(NULL);
    return NULL;
}

static void test_first_use(void **state) {
    fault this_one = now.fault;
    void *made = NULL;
    pthread_t thread;
    (void)state;
    open_world(&made);
    world *w = made;
    now.w = w;
    arm(this_one);
    int64_t blocks = heap_blocks();
    now.heap_before = heap_allocations();
    did(zt_open(NULL, NULL, NULL, NULL));
    begin_own_part();
    assert_int_equal(pthread_create(&thread, NULL, use_on_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end_own_part();
    for (int i = 0; i < 2; i++) {
        run_tracer(w);
        run_immediate(w);
    }
    now.failed = failed_call();
    count_calls();
    calls_of_system.counts = 0;
    end_fault();
    for (uint32_t i = 0; i < SITES; i++) /* those of the driver fail in the scenarios themselves */
        progress->counts[i] = sites[i].of == DRIVER ? 0 : now.counts[i];
    progress->reached += now.failed != NULL;
    check_work(w);

    /* What has failed for ever fails no more: regions are measured. */
    memset(&now, 0, sizeof now);
    now.fault = (fault){sites, 0, 0, ONCE};
    now.w = w;
    for (int i = 0; i < 2; i++) {
        zt_profiler *profiler = open_here(w, "ComputeBasic");
        w->launches += nested(w, w->immediate);
        finish(w);
        ok(zt_collect(profiler, A_WHILE));
        zt_counts counts = zt_get_info(profiler).counts;
        assert_int_equal(counts.collected, 2);
        close_here();
    }
    int64_t kept = heap_blocks() - blocks;
    if (this_one.number == 0)
        progress->kept = kept;
    if (memory.blocks != 0 || kept > progress->kept)
        fail_case("memory is leaked");
    close_world(&made);
}

static void run_first_use(const scenario *of, fault this_one) {
    run_in_process(of, this_one, test_first_use, start_without_library);
}

static void test_first_uses(void **state) {
    (void)state;
    test_in_processes(&first_use, run_first_use);
}

/* ==== examples ============================================================================================ */

/* Those that need nothing but the device. The last is a program without the library, which is preloaded. */
static const char *const examples[] = {"bench",  "groups", "hotspots", "instrument", "regions", "replay",
                                       "scoped", "stream", "timeline", "trace",      "simulate"};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

static void set_path(const char *variable, const char *file) {
    char path[PATH_MAX];
    find_file(file, path, sizeof path);
    setenv(variable, path, 1);
}

/* Of a failure: an allocation or a system call fails, and none of the driver. */
static const char of_system[] = "system:";

/* Becomes the example, with the fault that progress->text names. */
static void execute_example(const char *name, const char *calls_path) {
    char file[64], path[PATH_MAX];
    snprintf(file, sizeof file, "build/examples-O0/%s", name);
    find_file(file, path, sizeof path);
    unsetenv("LD_LIBRARY_PATH"); /* of the loader that the tests run on */
    set_path("ZE_ENABLE_ALT_DRIVERS", "build/libze_softgpu.so");
    set_path("KERNELS", "build/kernels");
    int is_simulate = strcmp(name, "simulate") == 0;
    char failing[PATH_MAX], library[PATH_MAX], preloaded[2 * PATH_MAX + 1] = "";
    const char *failure = strchr(progress->text, ':') + 1;
    find_file("build/examples-O0/libzt_auto.so", library, sizeof library);
    if (strncmp(failure, of_system, strlen(of_system)) == 0) {
        find_file("build/tests/plugins/failing.so", failing, sizeof failing);
        snprintf(preloaded, sizeof preloaded, "%s%s%s", failing, is_simulate ? ":" : "",
                 is_simulate ? library : "");
        setenv("FAILING_FILE", is_simulate ? library : path, 1);
        setenv("FAILING_CALL", failure + strlen(of_system), 1);
        setenv("FAILING_COUNT", calls_path, 1);
    } else {
        snprintf(preloaded, sizeof preloaded, "%s", is_simulate ? library : "");
        setenv("SOFTGPU_FAIL", failure, 1);
        setenv("SOFTGPU_CALLS", calls_path, 1);
    }
    if (*preloaded)
        setenv("LD_PRELOAD", preloaded, 1);
    if (is_simulate)
        setenv("ZT_AUTO", "run.csv", 1);
    setenv("ZET_ENABLE_METRICS", "1", 1);
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    setenv("SOFTGPU_BEHAVE", "STALL_SAMPLING", 1);
    if (chdir(test_directory) == 0) /* the only one with a duration has a second */
        execl(path, path, strcmp(name, "stream") == 0 ? "1" : NULL, (char *)NULL);
    _exit(127);
}

/* The program ends by itself: well, or with a message. Returns how many calls it has made. */
static uint32_t run_example(const char *name, const char *failure) {
    char calls_path[PATH_MAX];
    unsigned count = 0;
    FILE *output = tmpfile();
    assert_non_null(output);
    snprintf(calls_path, sizeof calls_path, "%s", in_directory("calls"));
    snprintf(progress->text, sizeof progress->text, "%s:%s", name, failure);
    all_cases++;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(output), 1);
        dup2(fileno(output), 2);
        execute_example(name, calls_path);
    }
    int status = await_process(child);
    long written = (fseek(output, 0, SEEK_END), ftell(output));
    int is_well = status >= 0 && WIFEXITED(status) &&
                  (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == 1 && written > 0));
    if (!is_well) {
        print_output(output);
        fail_msg("ZT_CASE=%s: status 0x%x", progress->text, (unsigned)status);
    }
    fclose(output);
    FILE *file = fopen(calls_path, "r");
    if (!file || fscanf(file, "%u", &count) != 1)
        fail_msg("%s did not count its calls", name);
    fclose(file);
    return count;
}

static void test_example(void **state) {
    const char *name = *state, *only = getenv("ZT_CASE");
    uint64_t index = 0, stride_of_examples = stride(1) == 1 ? 1 : 131;
    char failure[64];
    size_t length = strlen(name);
    if (INSTRUMENTED || (only && (strncmp(only, name, length) != 0 || only[length] != ':')))
        skip();
    if (only) {
        run_example(name, only + length + 1);
        return;
    }
    /* First those of the driver. */
    for (int of = 0; of < 2; of++) {
        const char *kind = of == 0 ? "" : of_system;
        const uint32_t *results = of == 0 ? driver_results : system_results;
        uint64_t before = all_cases;
        snprintf(failure, sizeof failure, "%s0:0", kind);
        uint32_t count = run_example(name, failure);
        for (uint32_t result = 0; result < RESULTS; result++)
            for (int for_ever = 0; for_ever < (results[result] == EINTR ? 1 : 2); for_ever++)
                for (uint32_t number = 1; number <= count; number += 1 + number / 4) {
                    snprintf(failure, sizeof failure, "%s%u:0x%x%s", kind, number, results[result],
                             for_ever ? ":ever" : "");
                    if (++index % stride_of_examples == 0)
                        run_example(name, failure);
                }
        print_message("%s: %u calls of %s, %u cases\n", name, count, of == 0 ? "the driver" : "the system",
                      (unsigned)(all_cases - before));
    }
}

/* ==== all of them ========================================================================================= */

/* ZT_TEST has chosen among the scenarios, and not among what runs inside them. */
static int begin_all(void **state) {
    cmocka_set_test_filter(NULL);
    return make_directory(state);
}

static int print_sum(void **state) {
    (void)state;
    print_message("%llu cases, in %llu of which a call failed, of which errors named %llu (one in %llu)\n",
                  (unsigned long long)all_cases, (unsigned long long)all_reached,
                  (unsigned long long)all_told, (unsigned long long)stride(1));
    return remove_directory(state);
}

int main(void) {
    struct CMUnitTest tests[SCENARIOS + EXAMPLES + 3];
    memset(tests, 0, sizeof tests);
    for (int i = 0; i < SCENARIOS; i++) {
        tests[i].name = scenarios[i].name;
        tests[i].test_func = test_every_call;
        tests[i].initial_state = (void *)(uintptr_t)&scenarios[i];
    }
    for (int i = 0; i < EXAMPLES; i++) {
        tests[SCENARIOS + i].name = examples[i];
        tests[SCENARIOS + i].test_func = test_example;
        tests[SCENARIOS + i].initial_state = (void *)(uintptr_t)examples[i];
    }
    tests[SCENARIOS + EXAMPLES].name = "exit";
    tests[SCENARIOS + EXAMPLES].test_func = test_exits;
    tests[SCENARIOS + EXAMPLES + 1].name = automatic.name;
    tests[SCENARIOS + EXAMPLES + 1].test_func = test_automatic;
    tests[SCENARIOS + EXAMPLES + 2].name = first_use.name;
    tests[SCENARIOS + EXAMPLES + 2].test_func = test_first_uses;
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return progress == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, begin_all, print_sum);
}
