/* What the tests share: the software device behind the real loader, a small world of Level Zero objects with
   work to measure, and the checks that hold everywhere. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <level_zero/zet_api.h>
#include <pthread.h>
#include <setjmp.h>

#ifdef __cplusplus
extern "C" { /* cmocka does not say it itself */
#include <cmocka.h>
}
#else
#include <cmocka.h>
#endif

#include "softgpu/softgpu_control.h"
/* In a process that ends so, gcov writes what it has counted only if it is asked to. */
#ifdef COVERAGE
#include <gcov.h>
#include <unistd.h>
#define _exit(status) (__gcov_dump(), _exit(status))
#endif

#define ZETOOLS_TRACER
#define ZETOOLS_DEBUG
#include "zetools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instrumented programs run an order of magnitude slower: they repeat less. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#ifdef INSTRUMENTED
#define OFTEN(n) ((n) / 10)
#else
#define INSTRUMENTED 0
#ifdef _WIN32 /* where files are opened more slowly */
#define OFTEN(n) ((n) / 10)
#else
#define OFTEN(n) (n)
#endif
#endif

#define A_WHILE UINT64_C(30000000000) /* nanoseconds; a bound, never a measure */
#define WORK_GROUPS 4u                /* of one launch */
#define WORK_ITEMS 256u               /* of one launch */

#define ok(call) assert_result(call, ZE_RESULT_SUCCESS)
#define assert_result(call, expected) assert_result_((call), (expected), #call, __FILE__, __LINE__)
void assert_result_(ze_result_t got, ze_result_t expected, const char *call, const char *file, int line);
/* Of the last message of this thread, from this file's copy of the library. */
static inline ze_result_t last_result(void) {
    ze_result_t result;
    zt_last_error(&result);
    return result;
}

/* cmocka 2 deprecates the name that cmocka 1 has, and its new macro converts to signed on the way. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range(value, minimum, maximum)                                                             \
    _assert_uint_in_range((uintmax_t)(value), (uintmax_t)(minimum), (uintmax_t)(maximum), __FILE__, __LINE__)
#endif

/* `text` contains `part`, or the test fails and shows both. */
#define assert_contains(text, part) assert_contains_(text, part, __FILE__, __LINE__)
void assert_contains_(const char *text, const char *part, const char *file, int line);

/* Equal but for rounding; two NaN are equal. */
#define assert_close(got, expected) assert_close_(got, expected, #got, __FILE__, __LINE__)
void assert_close_(double got, double expected, const char *what, const char *file, int line);

/* ==== the software device ================================================================================= */

#define GPU_FUNCTIONS(X)                                                                                     \
    X(reset)                                                                                                 \
    X(behave)                                                                                                \
    X(fail)                                                                                                  \
    X(fail_any)                                                                                              \
    X(pause_faults)                                                                                          \
    X(failed_call)                                                                                           \
    X(calls)                                                                                                 \
    X(reset_calls)                                                                                           \
    X(lose_device)                                                                                           \
    X(restore_device)                                                                                        \
    X(device_is_lost)                                                                                        \
    X(is_stopped)                                                                                            \
    X(set_timestamps)                                                                                        \
    X(set_clock)                                                                                             \
    X(set_devices)                                                                                           \
    X(live)                                                                                                  \
    X(findings)                                                                                              \
    X(ledger)                                                                                                \
    X(forget_findings)                                                                                       \
    X(set_call_cost)                                                                                         \
    X(set_real_costs)                                                                                        \
    X(set_kernel_clock)                                                                                      \
    X(set_metric_clock)                                                                                      \
    X(pass_time)                                                                                             \
    X(hold_time)                                                                                             \
    X(get_stamped)                                                                                           \
    X(give_samples)                                                                                          \
    X(list_registers)                                                                                        \
    X(set_shape)                                                                                             \
    X(set_native_binary)                                                                                     \
    X(detach_debuggers)                                                                                      \
    X(set_metric)                                                                                            \
    X(set_power)                                                                                             \
    X(list_metrics)

/* The control interface of the loaded driver: gpu.reset is softgpu_reset, and so on. */
extern struct gpu {
#define GPU_MEMBER(name) __typeof__(softgpu_##name) *name;
    GPU_FUNCTIONS(GPU_MEMBER)
#undef GPU_MEMBER
} gpu;

/* On threads where cmocka's assertions must not fail: the first failure is kept for the thread of the test. */
#define ok_on_thread(call)                                                                                   \
    do {                                                                                                     \
        ze_result_t result_ = (call);                                                                        \
        if (result_ != ZE_RESULT_SUCCESS)                                                                    \
            note_failure(#call, result_);                                                                    \
    } while (0)

void note_failure(const char *what, ze_result_t result);
int has_noted_failure(void);
void assert_no_noted_failure(void); /* forgets it */

/* How often the driver function was called since reset_calls(). */
uint64_t calls(const char *function);

/* The n-th call from now of the driver function has this result, and does nothing. */
void inject(const char *function, uint32_t nth_call, ze_result_t result);

/* So many of `recorded` samples are in flight before their list is executed: all where the loader cannot tell that it
   is not immediate, and none elsewhere. */
uint64_t maybe_running(uint64_t recorded);

/* Whether this loader knows zeCommandListIsImmediate (1.16). */
int can_tell_immediate(void);

/* In a function of a test program that stands in the place of one of the loader or the C library: that one. For
   programs with <dlfcn.h> and _GNU_SOURCE. */
#define REAL(name) (*(__typeof__(name) **)&(void *){dlsym(RTLD_NEXT, #name)})

/* Skips a test of something that Windows does not have. */
#ifdef _WIN32
#define NOT_ON_WINDOWS(reason) (puts("skipped: " reason), skip())
#else
#define NOT_ON_WINDOWS(reason) ((void)0)
#endif

/* ==== a world to measure ================================================================================== */

enum { MESSAGES = 32, PROFILERS = 8 };

typedef struct world {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t immediate;
    ze_command_list_handle_t list; /* recorded; open at first */
    ze_event_pool_handle_t event_pool;
    ze_event_handle_t done;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    float *ones, *sums;
    uint64_t live_before; /* objects of earlier tests */
    uint32_t launches;    /* each adds 1 to every sum */

    zt_profiler *profilers[PROFILERS]; /* closed with the world, should a test have failed */
    char messages[MESSAGES][1024];
    int message_results[MESSAGES];
    int message_count;
} world;

int start(void **state); /* of a group of tests: initialises Level Zero with the software device */
int start_traced(
    void **state); /* the same, with the tracing layer, which older loaders cannot turn on later */
int start_without_library(void **state); /* the same, and does not call the library */
int open_world(void **state);
int close_world(void **state); /* fails where anything was leaked, destroyed twice or used wrongly */

/* For tests in which something has to be left behind: without that check. */
int open_leaky_world(void **state);
int abandon_world(void **state);

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_world, close_world)

/* Skips the test where the validation layer refuses the structure of Intel's extension for registers. */
void need_registers_extension(world *w);

/* For tests that write files: a new directory, which is removed with all that is in it. The path of a file in
   it is valid until the fourth call after that. */
extern char test_directory[64];
int make_directory(void **state);
int remove_directory(void **state);
const char *in_directory(const char *name);

/* Counts how often a text contains another. */
int occurrences(const char *text, const char *part);

/* Returns the line of a report that begins with a text; valid until the next call. Fails if there is none. */
const char *line_of(const char *report, const char *beginning);

/* Memory of this process, in bytes; 0 where it is not to be had, or means nothing. */
int64_t resident_size(void);

void create_immediate(world *w, ze_command_list_handle_t *list);
void create_list(world *w, ze_command_list_handle_t *list);
void create_kernel(world *w, ze_kernel_handle_t *kernel);
void create_event(world *w, uint32_t index, ze_event_handle_t *event); /* index from 1 to 15 */

/* Makes a list wait for an event, with index 1, that the test signals. What is appended next is in flight
   until then. */
ze_event_handle_t append_gate(world *w, ze_command_list_handle_t list);

/* Where the first span of this name is on the trace, in nanoseconds of the host's clock. */
void find_span(const zt_profiler *profiler, const char *name, double *begin, double *end);

/* A file of this project; the caller frees its bytes. */
typedef struct native_binary {
    uint8_t *bytes;
    size_t size;
} native_binary;
native_binary read_binary(const char *name);

/* Modules of native binaries, such as "build/kernels/saxpy.so", and their kernels. */
ze_result_t try_module(world *w, native_binary code, const char *flags, ze_module_handle_t *module);
ze_module_handle_t load_module(world *w, const char *name, const char *flags);
ze_kernel_handle_t kernel_in(ze_module_handle_t module, const char *name);

/* The application's own work, which has to go on whatever happens to the profiling. */
void launch(world *w, ze_command_list_handle_t list);
void launch_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel);
/* By each of the four functions that launch kernels, by the last `several` of them, and waits. Each launch signals its
   event, if there are any, and waits for that of the one before. */
void launch_in_every_way(world *w, ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t several,
                         ze_event_handle_t events[4]);
void finish_immediate(world *w, ze_command_list_handle_t list);
void finish_queue(world *w);
void reset_list(ze_command_list_handle_t list);
void execute_unprofiled(world *w, ze_command_list_handle_t list);
void check_work(world *w); /* the kernels ran, as often as they were executed, with the right result */

/* The default configuration, with messages kept in the world. */
zt_config config_of(world *w);
zt_profiler *open_profiler(world *w, const zt_config *config); /* asserts success */
/* The query with which it is opened may take longer than config->wait_timeout_ns. Not for timelines: meanwhile the
   clock stands still. */
zt_profiler *open_patiently(world *w, const zt_config *config);
zt_profiler *open_on(world *w, ze_device_handle_t device, const zt_config *config);
zt_profiler *open_groups(world *w, const char *groups); /* asserts that metrics are measured */
zt_profiler *open_with_timeout(world *w, uint64_t wait_timeout_ns);
zt_profiler *open_threaded(world *w);   /* with a thread that collects */
zt_profiler *open_two_passes(world *w); /* "ComputeBasic,MemoryProfile" */
void close_profiler(world *w, zt_profiler *profiler);

/* How many of the messages contain the text. */
int heard(const world *w, const char *text);

/* What other processes have of a profiler: packed, and unpacked. */
zt_profiler *repacked(const zt_profiler *profiler);

/* One region around one launch. */
void run(world *w, zt_profiler *profiler, const char *name);
/* One that lasts `ns` and more on the device, however busy this machine is. */
void run_at_least(world *w, zt_profiler *profiler, const char *name, double ns);
/* A region on w->list, which it closes. Each execution waits for the gate before the region, and again
 * inside. */
typedef struct held_region {
    ze_event_handle_t gate, inside;
} held_region;
held_region append_held(world *w, zt_profiler *profiler, const char *name);
void let_in(held_region held); /* returns when an execution is inside of the region */
void let_out(held_region held);
void destroy_held(held_region held);
/* The region "marked" beside a stream that is attached to the profiler, and closed afterwards: the row
   between its two markers "step" is the region's. */
void stream_marked_region(world *w, zt_profiler *profiler);

/* Closes a stream, and returns its final counts. */
zt_stream_counts end_stream(zt_stream *stream, zt_row_fn function, void *user);
void append(world *w, zt_profiler *profiler, ze_command_list_handle_t list, const char *name);
void append_kernel(zt_profiler *profiler, ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                   const char *name);
void execute(world *w, zt_profiler *profiler, ze_command_list_handle_t list); /* and waits */

/* begun = collected + lost + dropped + in flight, and the same by cause and by region. */
void check_identity(const zt_profiler *profiler);
void collect_all(zt_profiler *profiler);

void assert_counts(const zt_profiler *profiler, zt_counts expected);
zt_counts counted(uint64_t begun, uint64_t collected, uint64_t lost, uint64_t dropped, uint64_t in_flight);

uint32_t find_region(const zt_profiler *profiler, const char *name); /* UINT32_MAX: none */
zt_region_info region_info(const zt_profiler *profiler, const char *name);
zt_stats stats_of(const zt_profiler *profiler, const char *region, const char *metric);

zet_metric_group_handle_t find_group(world *w, const char *name, zet_metric_group_sampling_type_flags_t type);

/* ==== who the library takes the program for ================================================================ */

/* Whatever machine the tests run on, the library sees this in the files by which the system says who may use the
   counters; NULL: there are none. A new world has "1". */
void assume_reserved(const char *content);

/* Who has the software device's counters, by the file that SOFTGPU_COUNTERS names, seems to have open what xe calls so.
   Of the machine's own devices, nobody has counters open. */

/* The processes of which the system shows this one what they have open. A new world has all. */
typedef enum shown_processes { ALL_PROCESSES, OWN_PROCESS, NO_PROCESS } shown_processes;
void assume_shown(shown_processes shown);

/* The program has rights that its user has not, as set-user-ID programs have. A new world has none. */
void assume_extra_rights(int has_them);

/* What the file has by which the system switches program debug on and off; NULL: there is none, as in a new
   world. */
void assume_debug_switch(const char *content);

/* What the file has in which Linux shows the energy of the first device, in microjoules; NULL: there is none, as in a new
   world. */
void assume_energy(const char *content);

/* ==== the library's use of memory ========================================================================= */

/* Calls of malloc, calloc and realloc by the library, and what it holds. The C library rounds up the bytes of a block,
   in one process more than in another: what two of them hold is compared by blocks. */
uint64_t heap_allocations(void);
int64_t heap_bytes(void);
int64_t heap_blocks(void);
typedef struct heap_use {
    uint64_t allocations;
    int64_t bytes;
} heap_use;
heap_use library_memory(void);
void assert_same_memory(heap_use before);

/* The n-th of these calls from now fails; `for_ever`, all after it, too. 0 takes the fault back. */
void fail_heap(uint64_t nth_call, int for_ever);

/* An allocator of the application, of which so many allocations succeed; below 0, all. A new world has -1. */
extern int allocations_left;
zt_allocator scarce_allocator(void);

/* An allocator of the application, and what another thread does before one of its allocations: before the first from
 * now, or after so many others. A new world has none. */
zt_allocator interrupted_allocator(void);
void interrupt_allocation(int allocations_before, void *(*function)(void *argument), void *argument);
int interrupted_allocation(void); /* whether it came; no other one is interrupted */

/* ==== the library's use of the loader's tracer ============================================================ */

/* Callbacks that the library registered since they were forgotten: for a call, such as "zeKernelCreate"; for
   NULL, all. */
uint32_t registered(const char *call);
void forget_registered(void);

/* The n-th callback from now that the library registers is refused with this result; 0 takes that back. */
void fail_registration(uint32_t nth_callback, ze_result_t result);

/* From now on, the loader seems to lack a function. NULL: none. */
void hide_symbol(const char *name);

/* Until the world is closed, the library calls this function instead of the loader's of this name, also where
   the loader has none, or of the driver's extension. For up to four names of functions that the library looks up. */
typedef void (*any_function)(void);
void replace_symbol(const char *name, any_function function);

/* What zt_hotspots_start finds as the driver's zexKernelGetBaseAddress. NULL: the driver's own. */
typedef ze_result_t (*kernel_base_function)(ze_kernel_handle_t kernel, uint64_t *base);
extern kernel_base_function fake_kernel_base;

/* ==== files =============================================================================================== */

/* The whole path of a file of this project, wherever the program runs. */
void find_file(const char *name, char *path, size_t size);

/* The path of the software device. With several drivers in the loader, the first. */
const char *driver_path(void);

/* Whether handles are the loader's own, which it does not use again: by interception, or with several drivers. */
int loader_wraps_handles(void);

/* ==== what a report says ================================================================================== */

typedef struct kept_text {
    size_t used;
    char bytes[1 << 22];
} kept_text;

/* A zt_write_fn for a kept_text, which it ends with a 0. */
int keep_text(const void *bytes, size_t size, void *text);

/* Until the next call. */
const char *written_report(const zt_profiler *profiler, zt_format format);

/* So many launches were not measured by a cause, or between barriers, and all reports note it with the beginning of why. */
void expect_unmeasured(const zt_profiler *profiler, zt_unmeasured cause, uint64_t count, const char *why);
void expect_serialised(const zt_profiler *profiler, zt_serialised cause, uint64_t count, const char *why);

/* ==== output that nobody asked for ======================================================================== */

void capture_output(void);    /* from here on, standard output and error go to a file, */
size_t captured_output(void); /* until here: how many bytes there were */

/* ==== time ================================================================================================ */

uint64_t now_ns(void);
void pass_time(uint64_t ns);         /* at once: the library and now_ns() find it later than it is */
void *pass_much_time(void *is_over); /* on a thread: much of it, until this int is not 0 */
void hold_time(int held);   /* not 0: the library's clock stands still, but for what passes by pass_time() */
void pass_sleeps(int pass); /* not 0: sleeps of the library take no time, and pass theirs by pass_time() */
void nap(void);             /* a millisecond, to let others run */

/* ==== threads that may hang =============================================================================== */

/* Joins a thread. One that does not end fails the test, and what it may hold is left as it is. */
void join_in_time(world *w, pthread_t thread);

/* Runs a function on a thread of its own, and joins it likewise. */
void run_in_time(world *w, void *(*function)(void *argument), void *argument);
void close_in_time(world *w, zt_profiler *profiler);

/* Waits until a flag is set; fails where it never is. */
void await(const int *flag);

/* So many threads of the library cannot be started from now on. Not on Windows. */
extern int refused_threads;

/* Threads of this process, and those of them that block the signals of an application. */
uint32_t count_threads(void);
uint32_t count_deaf_threads(void);

/* Returns how many threads there are, after one that was joined. Under qemu it is still there for a moment. */
uint32_t count_threads_left(uint32_t expected);

#ifdef __cplusplus
}
#endif

#endif
