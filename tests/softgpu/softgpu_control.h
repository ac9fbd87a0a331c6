/* How a test makes the software device behave, and asks it what happened.
 *
 * The functions are exported by libze_softgpu.so. A test reaches them with dlsym() in a handle of the library
 * that the loader has loaded already: dlopen(path, RTLD_NOW | RTLD_NOLOAD). All are safe to call from any
 * thread.
 */
#ifndef SOFTGPU_CONTROL_H
#define SOFTGPU_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What real drivers do beyond, or against, the specification. Off unless asked for; softgpu_behave() turns
 * one on for every n-th occasion. */
/* clang-format off */
#define SOFTGPU_BEHAVIOURS(X)                                                                                \
    X(METRICS_NOT_ENABLED)        /* groups: DEPENDENCY_UNAVAILABLE until they are enabled; see below */     \
    X(NO_METRIC_LIBRARY)          /* no metric group is listed */                                            \
    X(ONLY_STALL_SAMPLING)        /* one IP-sampling group is all that is listed */                          \
    X(ONLY_EVENT_BASED)           /* no time-based group is listed */                                        \
    X(STALL_SAMPLING)             /* EuStallSampling is listed beside the others: see sampling.c */          \
    X(NO_PERMISSION)              /* groups list and activate, streamers and query pools fail */             \
    X(COUNTERS_HELD)              /* by another process: the same results as without permission */           \
    X(MANY_SETS)                  /* 28 more sets; see below */                                              \
    X(B580_METRICS)               /* ComputeBasic is that of an Intel Arc B580; see softgpu_set_metric() */  \
    X(METRIC_NAMES_DIFFER)        /* some metrics have the names of another device */                        \
    X(METRICS_OF_STREAMS_DIFFER)  /* GpuTime, StreamMarker and ReportReason have other names */              \
    X(LAST_OF_DOMAIN_WINS)        /* two groups of a domain activate: the last counts */                     \
    X(ACTIVATE_AT_EXECUTION)      /* recorded lists: what is active when they are executed counts */         \
    X(ACTIVATE_AT_FIRST_USE)      /* see below */                                                            \
    X(ACTIVATION_RACES)           /* with executions: a finding; see below */                                \
    X(UNKNOWN_FOR_NOT_READY)      /* query data that are not there yet: UNKNOWN, not NOT_READY */            \
    X(QUERY_END_HELD)             /* an immediate QueryEnd without event waits for the next append */        \
    X(REPORT_ERROR)               /* a query's data: zeros, and this flag; likewise the next seven */        \
    X(REPORT_LOST)                                                                                           \
    X(REPORT_WITHOUT_WORKLOAD)                                                                               \
    X(REPORT_INCONSISTENT)                                                                                   \
    X(REPORT_CONTEXT_MISMATCH)                                                                               \
    X(REPORT_QUERY_MODE_MISMATCH)                                                                            \
    X(REPORT_OVERRUN)                                                                                        \
    X(REPORT_QUERY_SPLIT)                                                                                    \
    X(NEVER_DELIVERED)            /* a query of an immediate list: its event signals, its data never come */ \
    X(NESTED_REPLAY_OVERFLOWS)    /* a query around another, executed again: see below */                    \
    X(STALE_REPLAY)               /* a query executed again keeps its old report till it ends */             \
    X(UNDEFINED_QUERY_TIMESTAMP)  /* the event of a QueryEnd has a nonsense timestamp */                     \
    X(VALUE_TYPES_DIFFER)         /* values have other types than their metrics are said to have */          \
    X(SLOW_CALCULATION)           /* a calculation takes long enough to meet another */                      \
    X(CALCULATION_KEEPS_STATE)    /* TIME reports: a set less at first; a new capture's first is bogus */ \
    X(CHEAP_CALLS)                /* see below */                                                            \
    X(STREAMER_SIZE_IS_AVAILABLE) /* a read of size 0 answers what is there, and not what there can be */ \
    X(STREAMER_IGNORES_MAXIMUM)   /* the number of reports asked for affects the answer to size 0 alone */ \
    X(MISSED_MOMENTS_UNTOLD)      /* moments that a streamer missed under load: without DROPPED_DATA */        \
    X(STREAMER_UNKNOWN)           /* a read after an overflow: UNKNOWN and no data; the next has them */     \
    X(STREAMER_ROUNDS)            /* period and notification are rewritten as odd hardware numbers */  \
    X(STREAMER_SPLITS_REPORTS)    /* a read ends within a report, whose rest comes first in the next */  \
    X(STREAMERS_EXCLUDE_QUERIES)  /* on the whole device, and not only in their domain */ \
    X(STREAM_MARKER_LINGERS)      /* rows without a marker: the last one's value, or a number from 1 to 64 */ \
    X(CLOCK_DRIFTS)               /* the device's clock is a hundredth faster  than it says */ \
    X(HALF_WRITTEN_STAMPS)        /* zeEventQueryKernelTimestamp while a command in order runs: see below */ \
    X(RESET_STAMPS_SPIN)          /* the same for an event that the host has reset: a finding; see below */  \
    X(TILE_STAMPS_UNCHECKED)      /* zeEventQueryTimestampsExp answers at once, whatever there is; see below */ \
    X(HANDLES_COME_BACK)          /* a new object has the handle of the last of its type that was destroyed */ \
    X(CLOSED_LISTS_IGNORE)        /* commands for a closed list succeed without effect */                    \
    X(DESTROY_WAITS)              /* for a busy immediate list, and is no mistake */                         \
    X(CONCURRENT_ENGINES)         /* engines work at the same time, lists are out of order: see below */     \
    X(NO_SYSMAN)                  /* zesInit: UNINITIALIZED */                                               \
    X(SYSMAN_OF_CORE)             /* by default where ZES_ENABLE_SYSMAN is 1: see sysman.c */                \
    X(ENERGY_OF_ROOT)             /* zesPowerGetEnergyCounter: INSUFFICIENT_PERMISSIONS */                   \
    X(DEBUG_NOT_ENABLED)          /* nobody can attach to this process; see below */                         \
    X(DEBUG_UNSUPPORTED)          /* by the system: the device has no debug properties; see below */         \
    X(DEBUG_NO_PERMISSION)        /* for any process */                                                      \
    X(DEBUG_NOT_ITSELF)           /* a process has no permission to debug itself */                          \
    X(DEBUG_SUB_DEVICES)          /* sub-devices have code of their own: tools can attach to each */         \
    X(DEBUG_EVENTS_LOST)          /* an event never comes */                                                 \
    X(DEBUG_ANSWERS_LATE)         /* the answer to an interruption comes after that to the next one */       \
    X(DEBUG_THREADS_UNAVAILABLE)  /* an interruption finds no thread */                                      \
    X(DEBUG_SLOW_AGENT)           /* threads may stop by faults before and while it serves interruptions */  \
    X(DEBUG_EXCEPTIONS)           /* a fault stops its thread, and is reported as no page fault */           \
    X(DEBUG_FAULTS_AGAIN)         /* before an interruption's answer comes a page fault, at 0x5000 */        \
    X(DEBUG_MANY_THREADS)         /* all threads seem to be in the first one's kernel; see below */          \
    X(DEBUG_THREADS_IN_ORDER)     /* then every group is before the first one, the largest first */
/* clang-format on */

enum softgpu_behaviour {
#define SOFTGPU_ENUMERATOR(name) SOFTGPU_##name,
    SOFTGPU_BEHAVIOURS(SOFTGPU_ENUMERATOR)
#undef SOFTGPU_ENUMERATOR
        SOFTGPU_BEHAVIOUR_COUNT
};

/* Everything below back to its default: behaviours, faults, costs, counts, timestamps, devices, listed
 * metrics, given values; a lost device is there again. The ledger stays. */
void softgpu_reset(void);

/* CHEAP_CALLS, for benchmarks: calls cost as little as they can. A command on an immediate list that has
 * nothing before it runs in the thread that appends it. Nobody is woken, so no other list may wait for what
 * it signals; times of events and the device's busy times stand still, and flushes by queries are not
 * counted. Threads with lists of their own share nothing but the device: of what it counts, two at once may
 * lose some. */

/* METRICS_NOT_ENABLED is on by default where ZET_ENABLE_METRICS was not 1 before zeInit.
 * zetDeviceEnableMetricsExp and zetDeviceDisableMetricsExp override it for a root device and its sub-devices,
 * until it is set anew. Once they are disabled, groups are listed still, and activation is UNINITIALIZED. */

/* MANY_SETS: Set4 to Set31, in domains 0 and 1 in turn. Each has a metric of its own, ITEMS_OF_SET_4 and so
 * on, and one that it shares with its neighbour: ITEMS_OF_PAIR_4 is in Set4 and Set5. */

/* ACTIVATE_AT_FIRST_USE: an activation becomes real in the first call that begins a query on an immediate
 * list or executes a list with queries, which takes 20 ms, and without a lock. Until one thread's queries
 * have completed with no other thread's beside them, two threads' queries at once are a finding: a real
 * driver crashes.
 *
 * ACTIVATION_RACES: zetContextActivateMetricGroups, zetMetricQueryPoolCreate and zetMetricQueryPoolDestroy take 20 ms,
 * and so does the first zeCommandQueueExecuteCommandLists after groups were activated, which makes that real, with
 * whatever lists. Where another thread is in one of these, or executes lists of the same root device meanwhile, that is a
 * finding: a real driver crashes.
 *
 * NESTED_REPLAY_OVERFLOWS: where a query begins or ends inside another on a recorded list that is executed
 * again, the GpuTime of the outer one (in ticks of 19.2 MHz) is (2^64 + ticks * 1e9) / 19.2e6, 960.77 s too long; its frequencies are 0, its flags are not set, and its other values are right. */

/* HALF_WRITTEN_STAMPS: while a command of a list that was created in order runs, zeEventQueryKernelTimestamp of
 * its event succeeds, and the end is 0. zeEventQueryStatus is right.
 *
 * RESET_STAMPS_SPIN: an event with time stamps, which a command of an immediate list in order was to signal and
 * which the host has reset: until it is a command's signal again, zeEventQueryStatus says SUCCESS, and
 * zeEventQueryKernelTimestamp is a finding, since real drivers spin for 5 s.
 *
 * TILE_STAMPS_UNCHECKED: zeEventQueryTimestampsExp succeeds for every event. It returns the ticks that the host
 * saw in the last zeEventQueryStatus, zeEventHostSynchronize or zeEventQueryKernelTimestamp that found the event
 * signalled; or 0s. Where the count is greater than that of the tiles, it is corrected, and nothing is
 * written. */

/* CONCURRENT_ENGINES: off, one thread executes all commands of a root device and its sub-devices, one at a
 * time, and every list is in order, so that a test that says nothing of order always sees the same. On, each
 * engine that the queue groups list (two that compute, one that copies) has a thread, for the lists and
 * queues that are created from then on. A list with the in-order flag runs on the engine that its queue's
 * index names (a sub-device's indices are shifted by its number). Any other list is executed out of order: of
 * its next 32 commands, each starts as soon as its wait events are signalled and an engine of the group is
 * free.
 *
 * Out of order, a barrier and a query's end start after all before them, or with wait events, after these. A
 * query's begin, a signal, an event's reset and a recorded list (on a queue or an immediate list) start after
 * all before them. What follows a barrier, a wait for events, a query's begin or end, an event's reset or a
 * recorded list starts after that. Other lists go on meanwhile; a query counts what they do. */

/* Program debug (zetDebugAttach): DEBUG_NOT_ENABLED is on by default where ZET_ENABLE_PROGRAM_DEBUGGING was
 * not 1 before zeInit; attaching is then an UNSUPPORTED_FEATURE. A tool that attaches is told of the queues
 * and modules that are there already. A module that is loaded while it is attached runs when it has
 * acknowledged that. Equal binaries are loaded once.
 * To a process of the same user a tool can attach at any time, whether its own process had the variable or not.
 * It can do no more before that process has called zeInit with the variable; then the events come. To one that
 * does not exist, attaching is an INVALID_ARGUMENT.
 * With DEBUG_UNSUPPORTED in the environment (SOFTGPU_BEHAVE) and the variable, zeInit is UNINITIALIZED.
 *
 * A slice is a tile; the first threads of its first EUs are the engines that compute, and the others are
 * never available. A thread can be stopped at any instruction of a kernel whose launch began when
 * DEBUG_NOT_ENABLED was off; without CONCURRENT_ENGINES, nothing runs on any EU but the first. SLM is what a
 * work-group has declared, in the order of its LOCALs, each at a multiple of 16.
 *
 * While a tool is attached, a page fault of a kernel stops its thread. If that has the same fault again when
 * it is resumed, or if the tool detaches, the kernel ends and the device is lost. Without a tool, it ends the
 * process.
 *
 * Registers are the processor's; the types of their sets are those of Intel's GPUs. On x86-64: rax, rbx, rcx,
 * rdx, rsi, rdi, rbp, rsp and r8 to r15; rflags; in the third 32 bits of a control register the instruction's
 * address from the base; xmm0 to xmm15; and the bases, of which the fifth is that of the instructions. */
/* DEBUG_MANY_THREADS: registers of any thread are those of the first engine, if that is stopped, but for the
 * address of the instruction. The threads are in groups: the first is where it is, the next two are a byte
 * behind it, the next three two bytes before it, the next four three bytes behind it, and so on. */
enum {
    SOFTGPU_GENERAL_REGISTERS = 1,
    SOFTGPU_FLAG_REGISTERS = 3,
    SOFTGPU_CONTROL_REGISTERS = 6,
    SOFTGPU_VECTOR_REGISTERS = 8,
    SOFTGPU_BASE_REGISTERS = 11
};

/* On for every n-th occasion: 1 is always, 0 is off. */
void softgpu_behave(enum softgpu_behaviour behaviour, uint32_t every);

/* The n-th call from now of a function ("zeEventCreate"; 1 is the next) answers this ze_result_t and does
 * nothing. 0 takes the fault back. Returns 0 if the device knows no such function. */
int softgpu_fail(const char *function, uint32_t nth_call, uint32_t result);

/* The n-th call from now of a function, or for NULL of any, answers this ze_result_t and does nothing.
 * `for_ever`, all calls of all functions after it do likewise, but those that destroy or free something. A
 * device that is lost for ever is lost as by softgpu_lose_device(). 0 takes the fault back. Returns 0 if the
 * device knows no such function. The result SOFTGPU_EXITS + STATUS, with a status up to 255, calls
 * exit(STATUS) instead. */
#define SOFTGPU_EXITS UINT32_C(0x7fff4500)
int softgpu_fail_any(const char *function, uint64_t nth_call, uint32_t result, int for_ever);

/* Meanwhile, calls neither fail by softgpu_fail_any() nor count for it. */
void softgpu_pause_faults(int paused);

/* The function whose call has failed first by the last softgpu_fail_any(), or NULL. */
const char *softgpu_failed_call(void);

/* Each call of a function takes at least so long, as a stand-in for a real driver's cost. Returns as above.
 */
int softgpu_set_call_cost(const char *function, uint32_t nanoseconds);

/* Costs like those of Intel's driver (1: on, 0: off), each spent on the calling thread by waiting busily, without a lock,
 * beside what the call costs here. They are such that the library costs, in proportion to them, what it costs there:
 * tests/intel measures that driver. In microseconds: a query's begin and end 0.3 each; its data 0.3; a calculation 4.6,
 * and 2.4 for each report of it; an event's status 0.1, and 1.3 where it is not signalled; executing a list 22;
 * resetting one 1.2; an append on an immediate list 1.3 more than on a recorded one, and a launch 0.3 more. */
void softgpu_set_real_costs(int on);

/* How often a function was called; all of them, for NULL. */
uint64_t softgpu_calls(const char *function);
void softgpu_reset_calls(void);

/* All devices are lost: what runs stops, waits end, calls answer DEVICE_LOST. Restored, the queues are empty.
 */
void softgpu_lose_device(void);
void softgpu_restore_device(void);

/* Not 0: they are lost, also by a page fault of a kernel. */
int softgpu_device_is_lost(void);

/* Not 0: a debugger of this or of another process has stopped a kernel of this one. */
int softgpu_is_stopped(void);

/* Timestamps: valid bits (of both kinds), ticks per second, and the value of the device's clock now. */
void softgpu_set_timestamps(uint32_t valid_bits, uint64_t ticks_per_second);
void softgpu_set_clock(uint64_t ticks_now);

/* The time stamps of metrics apart from the device's own: their valid bits, and the value of their clock now.
 * 0 bits: they are the device's again. */
void softgpu_set_metric_clock(uint32_t valid_bits, uint64_t ticks_now);

/* The time stamps of kernels, copies and all other commands that signal an event, likewise. */
void softgpu_set_kernel_clock(uint32_t valid_bits, uint64_t ticks_now);

/* All clocks of devices are later by this from now on, as if that time had passed. Nothing runs or waits for
 * longer. */
void softgpu_pass_time(uint64_t nanoseconds);

/* Not 0: the clocks that calls return stand still, but for softgpu_pass_time, as a test holds the host's. Time stamps
 * of commands go on. */
void softgpu_hold_time(int held);

/* The device's own account, since it was loaded, of commands that signal an event with time stamps. */
typedef struct softgpu_stamped {
    uint64_t commands;
    uint64_t ticks; /* of the kernels' clock, from their begins to their ends */
    uint64_t turns; /* commands in which that clock began anew */
} softgpu_stamped;

softgpu_stamped softgpu_get_stamped(void);

/* B580_METRICS: ComputeBasic is the list of b580.def. The device measures what it can: times, clocks,
 * engines, work-groups, kernels, bytes. For the rest (XVE_ACTIVE, L3_HIT and so on), a test sets what the
 * hardware would have counted: each report made from now on carries that value, whatever work it spans,
 * converted to the metric's type. Default: 0. Returns 0 if no metric of the name can be set, or its type
 * cannot hold the value. */
int softgpu_set_metric(const char *name, double value);

/* What system management (zes_*) reads of all devices. NULL: a clock of 1000 MHz, 40 degrees, and the energy of 10 W,
 * and of 30 W more while an engine computes. */
typedef struct softgpu_power {
    uint64_t microjoules;      /* of the card; the package has half of it */
    double megahertz;          /* of the GPU */
    uint32_t throttle_reasons; /* zes_freq_throttle_reason_flags_t */
    double celsius;            /* of the GPU */
} softgpu_power;

void softgpu_set_power(const softgpu_power *values);

/* STALL_SAMPLING: a streamer of EuStallSampling has a report for each moment at which a kernel runs, with the
 * instruction that it is at. Of what a kernel waits for, a CPU tells little (sampling.c says what), so that a
 * test can give the rest: each open streamer gets a report of so many samples (up to 255) of a metric, such
 * as "SbidStall", at the address of an instruction. Returns 0 if there is no such metric, or no such
 * streamer. */
int softgpu_give_samples(const char *metric, uint64_t address, uint32_t count);

/* A metric group of the test's own, for metrics that no device has. It is listed first, instead of any other
 * group of its name, and has the metrics that all groups have, then these (up to 32), which
 * softgpu_set_metric() sets. The next call replaces it; a count of 0 removes it, and the name may then be
 * NULL. The group must be neither active nor in use. Returns 0 if there are too many metrics. */
typedef struct softgpu_metric {
    const char *name, *component, *units;
    uint32_t type, value_type; /* zet_metric_type_t, zet_value_type_t */
} softgpu_metric;

int softgpu_list_metrics(const char *group, const softgpu_metric *metrics, uint32_t count);

/* The sets of registers that are listed instead of the device's own. They can be read, as their flags allow
 * (zet_debug_regset_flags_t), and not be written: the first has the first bytes of the device's own set of
 * its type, and so on; there are 0s behind these. No tool may be attached meanwhile. NULL takes them
 * back. Returns 0 if there are more than 100. */
typedef struct softgpu_register_set {
    uint32_t type, flags, count, bytes;
} softgpu_register_set;

int softgpu_list_registers(const softgpu_register_set *sets, uint32_t count);

/* Slices, subslices of a slice, EUs of a subslice and threads of an EU that the properties of all devices
 * have, whatever they are in truth. NULL: those that they are. */
void softgpu_set_shape(const uint32_t shape[4]);

/* What zeModuleGetNativeBinary answers for every module, up to 64 bytes, which may be none. NULL: the module's
 * own binary. */
void softgpu_set_native_binary(const void *bytes, size_t size);

/* The tools that debug this process are detached, with this zet_debug_detach_reason_t. */
void softgpu_detach_debuggers(uint32_t reason);

/* Root devices (1 to 8) and sub-devices in each (0, or 2 to 4). Handles stay valid, listings change. */
void softgpu_set_devices(uint32_t devices, uint32_t sub_devices);

/* The ledger: objects and allocations of the application that are alive, and findings: what it did that it
 * must not do, such as destroying an object twice. softgpu_ledger() writes both as text, one a line, always
 * terminated, and returns their number. */
uint64_t softgpu_live(void);
uint64_t softgpu_findings(void);
uint64_t softgpu_ledger(char *text, size_t size);
void softgpu_forget_findings(void);

/* Before zeInit, the environment says the same:
 *   SOFTGPU_DEVICES, SOFTGPU_SUB_DEVICES   counts
 *   SOFTGPU_BEHAVE                         NAME or NAME=n, with commas between: "NO_PERMISSION,REPORT_LOST=3"
 *   SOFTGPU_INIT_RESULT                    what zeInit answers, as a number
 *   SOFTGPU_FAIL                           NUMBER:RESULT, or NUMBER:RESULT:ever, for softgpu_fail_any()
 *   SOFTGPU_COUNTERS                       a file, by which processes have counters one at a time: exclusive.c
 *   SOFTGPU_CALLS                          a file to which the number of calls is written at exit
 *   SOFTGPU_TIMESTAMP_BITS, SOFTGPU_TICKS_PER_SECOND
 */

#ifdef __cplusplus
}
#endif

#endif
