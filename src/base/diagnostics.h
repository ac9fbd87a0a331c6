/* All messages: their texts (in the .h), the log and the last error; names of results and causes. */

#pragma once

#include "base/compiler.h"
#include "base/platform.h"
#include "base/shared.h"
#include "base/system.h"

/* The identifier and format of each message: what happened, the call and its result, and what to do. All
   messages are here whatever the options are, because the size of zt_profiler depends on their number, and
   files with different options may use the same profiler. */
#define ZT__MESSAGES(X)                                                                                      \
    X(CALL_FAILED, "%s failed: %s. %s")                                                                      \
    X(NULL_ARGUMENT, "%s: %s is NULL. Pass a valid one.")                                                    \
    X(BAD_WITH, "zt_open: config.with is not a profiler that zt_open has opened and that is open.")          \
    X(BAD_ALLOCATOR, "%s: config.allocator has only one of its two functions. Set both or none.")            \
    X(NO_MEMORY, "%s: out of host memory for %s. Free some, or lower config.max_probes, config.samples and " \
                 "config.timeline, or config.memory_limit of a stream.")                                     \
    X(DEVICE_LOST, "%s failed: %s. The device is lost; samples in flight are counted as lost. Open a new "   \
                   "profiler when the device is back.")                                                      \
    X(NO_SHARED_DATA, "%s: no memory or no key for values of threads is left for what the copies of this "   \
                      "library in a process share. Free some.")                                              \
    X(TOO_MANY_PROFILERS, "zt_open: %u profilers are open in this process. Close some.")                     \
    X(TOO_MANY_GROUPS, "zt_open: more than %u metric groups are named. Name fewer.")                         \
    X(TOO_MANY_METRICS, "zt_open: config.metrics names more than %u metrics. Name fewer.")                   \
    X(METRICS_NOT_ENABLED, "%s failed: %s. Metrics are not enabled in the driver, and it has no "            \
                           "zetDeviceEnableMetricsExp that works. Set ZET_ENABLE_METRICS=1 in the "          \
                           "environment before zeInit.")                                                     \
    X(METRIC_LIBRARY_MISSING, "zetMetricGroupGet: the device lists no counters (%u groups in all). The "     \
                              "driver's metric libraries are missing: install Intel Metrics Discovery and "  \
                              "Metrics Library (libigdmd, libigdml) of the driver's version.")               \
    X(NO_PERMISSION, "%s failed: %s. This process has no permission to use metrics. %s")                     \
    X(NO_PERMISSION_OR_IN_USE, "%s failed: %s. The driver answers so in two cases. Either this process has " \
                               "no permission to use metrics, or the counters are in use by %s. %s Or "      \
                               "close the other user, then open again.")                                     \
    X(COUNTERS_IN_USE, "%s failed: %s. The device's counters are in use by %s. Close it, then open again.")  \
    X(COUNTERS_HELD, "%s: the device's counters are in use by %s. Close it, then open again.")               \
    X(METRICS_UNAVAILABLE, "%s failed: %s. Metrics cannot be measured on this device; regions have times.")  \
    X(TIMES_BY_CHOICE, "zt_open: no metric groups are requested; regions have only times. Name some in "     \
                       "config.groups or ZT_GROUPS.")                                                        \
    X(NO_SUCH_GROUP, "%s: the device has no %s metric group '%.64s'. Nearest: %s.")                          \
    X(INSTRUCTION_SAMPLING,                                                                                  \
      "%s: metric group '%.64s' samples instructions: it has a row for each address, not "                   \
      "for each period. Name another group.")                                                                \
    X(NO_SUCH_METRIC, "%s: there is no metric '%.64s'. Nearest: %s.")                                        \
    X(GROUPS_CONFLICT,                                                                                       \
      "zt_open: metric groups '%s' and '%s' share domain %u and cannot be active together. "                 \
      "Name one of them, or repeat the work with ZT_PASSES and raise config.max_passes.")                    \
    X(TOO_MANY_PASSES, "zt_open: the metric groups need %u passes, of at most %u. Name fewer groups%s.")     \
    X(PASS_FAILED, "ZT_PASSES: pass %u is left out, because its metric groups cannot be used: %s failed: "   \
                   "%s. Other users of the counters: %s. Close them, then repeat.")                          \
    X(NO_THREAD, "zt_open: config.thread is set, but no thread can be started%s. Call zt_collect() now and " \
                 "then instead.")                                                                            \
    X(NO_POWER, "zt_open: the driver reports neither energy nor clock and temperature: %s. %s")              \
    X(NO_ENERGY, "zt_open: the driver reports no energy: %s. %s")                                            \
    X(NO_POWER_THREAD, "zt_open: config.power is set, but no thread can be started. Energy is read in "      \
                       "zt_get_info and for reports alone, so phases may have none.")                        \
    X(NO_PROBE, "zt_begin: all %u probes are in use, %u of them bound to recorded lists. Region '%.64s' is " \
                "not measured. Call zt_collect() more often, zt_reset() or zt_release() for lists that are " \
                "reset or destroyed, or raise config.max_probes.")                                           \
    X(PROBES_NOT_ENDED, "zt_begin: all %u probes are in use, %u of them by regions that were begun and not " \
                        "ended, such as '%.64s'. Region '%.64s' is not measured. Call zt_end() for each.")   \
    X(TOO_MANY_NAMES, "%s: more than %u names of regions. Do not put numbers that change into names.")       \
    X(REGION_NOT_ENDED, "%s: region '%.64s' was begun and not ended. It is dropped. Call "                   \
                        "zt_end() for it.")                                                                  \
    X(TOO_MANY_PHASES,                                                                                       \
      "zt_phase_begin: there are %u different phases, and phase '%.64s' is not among them. It is "           \
      "a part of the one around it. Do not put numbers that change into names.")                             \
    X(PHASE_NOT_BEGUN,                                                                                       \
      "zt_phase_end: this thread is in no phase. A phase ends on the thread that has begun it: "             \
      "call zt_phase_adopt() to continue it on another.")                                                    \
    X(TIMED_OUT,                                                                                             \
      "%s: samples are still in flight after the timeout of %llu ns. Wait for the work before, or "          \
      "allow more time: timeouts are in nanoseconds.")                                                       \
    X(OVERWRITTEN, "%s: a list was executed again before its last execution was read. The samples of that "  \
                   "are overwritten and counted as lost. Execute several lists in turn, or wait for the "    \
                   "list before: zt_execute does, up to config.wait_timeout_ns.")                            \
    X(UNOBSERVED_LIST, "zt_collect: a command list with region '%.64s' ran outside of zt_execute. Only the " \
                       "first execution that is seen is measured. Execute it with zt_execute().")            \
    X(SAMPLE_LOST, "zt_collect: a sample of region '%.64s' is lost: %s. It is counted, and kept out of the " \
                   "statistics.")                                                                            \
    X(SAMPLE_DROPPED, "zt_collect: a sample of region '%.64s' is dropped: %s. It is counted, and kept out "  \
                      "of the statistics.")                                                                  \
    X(NOT_FINISHED, "%s: %llu samples were still in flight when the time was up, and are counted as lost. "  \
                    "Synchronise with the device before, or raise config.wait_timeout_ns. Call zt_release "  \
                    "for lists that are executed again before they are read.")                               \
    X(DROPPED_RUNNING, "%s: %llu dropped regions may still run on the device. What it may write to is not "  \
                       "freed. Synchronise with the device before, or raise config.wait_timeout_ns.")        \
    X(INSIDE_CALLBACK, "%s was called from the sample or log function, which runs while samples are "        \
                       "collected. Call it elsewhere.")                                                      \
    X(INSIDE_LOG, "%s was called from the log function, or from the function of a watch. Their caller "      \
                  "still uses what it would free. Call it elsewhere.")                                       \
    X(COLLECTOR_BUSY, "%s: another thread was still collecting when the time was up. Try again, or shorten " \
                      "the sample function.")                                                                \
    X(BAD_FIGURE, "%s: %s is %g. Pass a finite number that is not negative.")                                \
    X(BAD_INDEX, "%s: index %u is too high. See %s_count of zt_get_info().")                                 \
    X(NO_INDEX, "%s: the index is UINT32_MAX, which stands for none. Check what has returned it, such as "   \
                "zt_find_path() or zt_find_metric().")                                                       \
    X(CLOCKS_UNRELATED, "%s failed: %s. Device time and host time cannot be related, so there is no "        \
                        "timeline. Update loader and driver, or set config.timeline to 0.")                  \
    X(THREAD_HANGS, "%s: a thread does not return from the driver, from config.sample or from config.log. "  \
                    "Nothing is closed. Close it again later.")                                              \
    /* of merging and reports */                                                                             \
    X(CANNOT_WRITE, "%s: cannot write '%.512s': %s. Check the directory, its permissions and space.")        \
    X(WRITE_STOPPED, "%s: the write function returned that it cannot go on.")                                \
    X(BAD_FORMAT, "zt_write: %d is not a zt_format. Pass one of ZT_FORMAT_TABLE, _CSV, _JSON, _TRACE, "      \
                  "_HTML, _OPENMETRICS, _INSTANCES and _FOLDED.")                                            \
    X(UNKNOWN_SUFFIX, "%s: the suffix of '%.512s' is none of .txt (or none: a table), .csv, .json, "         \
                      ".trace.json, .pftrace, .html, .htm, .prom, .folded, .instances.csv and .zt. Use one " \
                      "of these.")                                                                           \
    X(BAD_VARIABLE, "zt_open: %s is '%.64s' in the environment, and not %s. It is ignored.")                 \
    X(NO_PAGE, "%s: ZETOOLS_NO_PAGE is defined, so there is no page. Write another format, or "              \
               "compile the implementation without it.")                                                     \
    X(NO_KEPT_SAMPLES, "%s: this report shows the timeline, and this profiler keeps none. Set "              \
                       "config.timeline to the number of samples to keep, such as 65536.")                   \
    X(LAYOUTS_DIFFER,                                                                                        \
      "zt_merge: the profilers do not measure the same: %s. Open both with the same groups.")                \
    X(MERGE_SELF, "zt_merge: a profiler cannot be merged into itself. Pass another.")                        \
    X(BAD_PACK, "zt_unpack: %s. Pass what zt_pack wrote, whole and unchanged.")                              \
    X(TOO_MANY_UNPACKED, "zt_unpack: %u profilers are open in this process. Close some.")                    \
    X(OTHER_PACK, "zt_unpack: the buffer has layout %u, and zetools " ZETOOLS_VERSION                        \
                  " reads layout %u. Pack and unpack with the same version.")                                \
    X(BUFFER_TOO_SMALL, "zt_pack: the buffer has %llu bytes, and %llu are needed. Call it with a NULL "      \
                        "buffer first, while nothing is collected.")                                         \
    /* of streams */                                                                                         \
    X(MEMORY_LIMIT, "%s: config.memory_limit is %llu bytes, and group '%s' needs %llu. Raise it.")           \
    X(NO_TIMELINE, "zt_stream_open: config.profiler keeps no timeline. Set its config.timeline.")            \
    X(SEVERAL_TILES, "%s: the device has %u tiles, and group '%.64s' cannot be sampled on all of them at "   \
                     "once. Open a %s on each sub-device (zeDeviceGetSubDevices).")                          \
    X(NO_READER, "zt_stream_open: config.thread is set, and %s. Call zt_stream_read() often instead.")       \
    X(STREAM_GAP, "zetMetricStreamerReadData: the device dropped data that were not read in time. Call "     \
                  "zt_stream_read() more often, set config.thread, or raise config.period_ns.")              \
    X(NOT_CALCULATED, "%s failed: %s. These reports are discarded. Update the driver if this persists.")     \
    X(STREAM_BUSY, "%s: the stream is being read. Do not call this from the function that receives rows, "   \
                   "nor from two threads at once.")                                                          \
    X(CANNOT_MARK, "zt_stream_mark: '%.64s' is not marked: %s.")                                             \
    X(ROWS_BUSY, "zt_close: a thread that reads a stream still attributes its rows to samples of this "      \
                 "profiler. The streams are detached, and the profiler stays open. Close it again later.")   \
    /* of the tracer */                                                                                      \
    X(TRACING_OFF, "%s: no callback was called (%s), so the loader's tracing layer is off. Set "             \
                   "ZE_ENABLE_TRACING_LAYER=1 in the environment before zeInit, and install the loader's "   \
                   "libze_tracing_layer.")                                                                   \
    X(TRACING_ALREADY, "%s: this process is traced already, and one tracer runs at a time: that of a "       \
                       "profiler, or of zt_auto, which traces all devices. Call zt_trace_stop() first, or "  \
                       "start without zt_auto.")                                                             \
    X(NO_SIGNAL, "zt_auto: tracing cannot be started by the signal '%.64s', because %s.")                    \
    X(SIGNAL_IN_VAIN, "zt_auto: the signal '%.64s' neither starts nor ends tracing, because %s: choose the " \
                      "other of USR1 and USR2%s.")                                                           \
    X(NO_SUCH_CALL, "%s: '%.64s' is not a call that can be traced. Nearest: %s.")                            \
    X(BAD_HOOKS, "%s: config.hooks is NULL, or has more than %u. Pass fewer.")                               \
    X(INSIDE_HOOK, "%s was called from a callback of the tracer, which it would have to wait for. Call it "  \
                   "elsewhere.")                                                                             \
    X(CALLS_IN_PROGRESS,                                                                                     \
      "%s: a traced call was still in progress when the time was up. The tracer stays, "                     \
      "switched off, until that call ends. Raise config.wait_timeout_ns, or end the wait "                   \
      "in that call.")                                                                                       \
    /* of hot spots */                                                                                       \
    X(NO_INSTRUCTION_SAMPLING,                                                                               \
      "zt_hotspots_start: none of the %u metric groups of the device samples instructions, as "              \
      "EuStallSampling does. Use another device or a newer driver.")                                         \
    X(NOT_TRACING, "zt_hotspots_start: the profiler does not trace, so it is not known where kernels lie. "  \
                   "Call zt_trace_start() before.")                                                          \
    X(NO_ADDRESSES, "zt_hotspots_start: %s. Where kernels lie is not known. Update loader and driver.")      \
    X(SAMPLING_ALREADY, "zt_hotspots_start: hot spots are already sampled. Call zt_hotspots_stop() first.")  \
    X(SAMPLES_DROPPED,                                                                                       \
      "%s: the device dropped samples that were not read in time. Raise config.period_ns "                   \
      "of zt_hotspots_start(), or call zt_collect() more often if config.no_thread is set.")                 \
    X(TOO_MANY_ADDRESSES, "zt_hotspots_start: samples lie at more than %u addresses, or there is no memory " \
                          "for them. Others are counted in zt_hotspots_counts.no_room. Raise "               \
                          "config.addresses.")                                                               \
    X(STILL_SAMPLING, "%s: another thread reads samples for longer than config.wait_timeout_ns, or the "     \
                      "library's own thread does not return from the driver. Call it again later.")          \
    X(NO_SUCH_KERNEL, "zt_replace: the module has no kernel '%.64s'. Nearest: %s.")                          \
    X(NOT_REPLACED, "zt_replace: '%.64s' is not replaced by '%.64s': %s. Build the other one with the same " \
                    "arguments, for the context and device of the profiler.")                                \
    X(REPLACEMENT_IN_USE, "%s: another thread still creates a kernel of a module that replaces no more. "    \
                          "Keep the module, and try again.")                                                 \
    X(BAD_PROFILE_FLAGS, "%s: ZT_PROFILE_FLAGS is '%.64s' in the environment, and not a number in "          \
                         "hexadecimal, such as 0x3. Correct it, or unset it.")                               \
    X(FLAGS_REFUSED, "zeModuleCreate failed: %s, with -zet-profile-flags 0x%x, and not without. Modules "    \
                     "are built without. Set ZET_ENABLE_PROGRAM_INSTRUMENTATION=1 in the environment "       \
                     "before zeInit.")                                                                       \
    X(MODULE_NOT_SAVED, "%s failed: %s. Files of modules are missing in '%.512s'. %s")                       \
    /* of program debug */                                                                                   \
    X(DEBUG_UNSUPPORTED,                                                                                     \
      "zetDeviceGetDebugProperties: this device cannot be debugged: the kernel's i915 or xe driver lacks "   \
      "eudebug, or it is a sub-device. Pass the root device, or install a kernel with eudebug.")             \
    X(DEBUG_SWITCHED_OFF, "%s: %s. The system has switched program debug off. As root, write 1 to %s, and "  \
                          "start the program again.")                                                        \
    X(DEBUG_NOT_ENABLED,                                                                                     \
      "%s failed: %s. Program debug is not enabled here or in process %u. Set "                              \
      "ZET_ENABLE_PROGRAM_DEBUGGING=1 in the environment of both before zeInit (here it %s); on Linux also " \
      "write 1 to /sys/class/drm/card*/prelim_enable_eu_debug (i915) or device/enable_eudebug (xe).")        \
    X(DEBUG_FORBIDDEN, "%s failed: %s. This process has no permission to debug process %u. Run as the same " \
                       "user or with CAP_SYS_PTRACE, allow it in /proc/sys/kernel/yama/ptrace_scope, or, "   \
                       "if a process may not debug itself, debug it from another.")                          \
    X(DEBUGGED_ALREADY, "%s failed: %s. Another debugger is attached to the device for process %u. Close "   \
                        "that one first.")                                                                   \
    X(DEBUGGER_OPEN, "zt_debug_open: this process has a debugger for process %u on this device already. "    \
                     "Close that one first.")                                                                \
    X(NO_SUCH_PROCESS, "%s failed: %s. There is no process %u. Pass the number of one that runs.")           \
    X(BAD_THREADS, "zeDeviceGetProperties: %u slices of %u subslices of %u EUs of %u threads cannot be. "    \
                   "Update the driver.")                                                                     \
    X(DEBUGGED_DEVICE_LOST, "%s failed: %s. The device is lost, and what ran on it has ended. Close the "    \
                            "debugger, and attach again when the device is back.")                           \
    X(DEBUG_OVER, "%s: the session is over, because the driver has detached it, or process %u has ended. "   \
                  "Close the debugger.")                                                                     \
    X(DEBUG_BUSY,                                                                                            \
      "%s: another thread was still in a call of this debugger when the time was up. Try again.")            \
    X(DEBUG_CLOSING,                                                                                         \
      "%s: another thread is closing this debugger with zt_debug_close(), which ends this call. "            \
      "Open another one to go on.")                                                                          \
    X(DEBUG_FORKED,                                                                                          \
      "%s: the debugger belongs to the process that has opened it, and this is a forked child. "             \
      "Open another one here.")                                                                              \
    X(DEBUG_INSIDE_CALLBACK, "%s was called from a callback of the debugger, which it would have to wait "   \
                             "for. Call it elsewhere.")                                                      \
    X(NO_ANSWER,                                                                                             \
      "zt_debug_stop: the device has not answered zetDebugInterrupt in time. What stops later is "           \
      "resumed. Allow more time, and call zt_debug_wait() if events wait to be delivered.")                  \
    X(TOO_MANY_STOPS,                                                                                        \
      "zt_debug_stop: %u stops wait for the device to answer. Wait for one of them, or stop "                \
      "all threads at once.")                                                                                \
    X(NO_REGISTER, "%s: the device has no register or set '%.32s' that can be accessed like this. Call "     \
                   "zt_debug_get_registers() for those that it has.")                                        \
    X(NO_SPACE, "%s: the device has no registers of space %u. Take spaces from zt_debug_get_registers().")   \
    X(BAD_REGISTERS,                                                                                         \
      "%s: the set '%.32s' has %u registers of %u bytes. Pass the address and size of whole ones.")          \
    X(MODULE_NOT_READ, "%s: a module of %llu bytes is not known to zt_debug_where(): %s. Raise "             \
                       "config.module_limit if that is lower, or free memory.")                              \
    X(NO_KERNEL_THERE,                                                                                       \
      "zt_debug_where: no module that was loaded has a kernel at 0x%llx. Call it while the "                 \
      "module is loaded, and build modules with symbols.")                                                   \
    /* of watching */                                                                                        \
    X(HANG, "zt_watch: %s")                                                                                  \
    X(NO_WATCH_THREAD, "zt_watch: no thread can be started. Watching needs one.")                            \
    X(WATCH_HANGS, "%s: the thread of the watch does not return from the driver, or from config.function. "  \
                   "Call it again later.")                                                                   \
    /* of zt_bench */                                                                                        \
    X(NOTHING_TO_BENCH, "%s: config.run and config.measure are both NULL. Set one.")                         \
    X(NO_BENCH_SAMPLE, "%s: '%.64s' has no sample: %s. Put a region of the profiler that it receives "       \
                       "around the work, and make sure that the work ends.")                                 \
    X(BENCH_SUFFIX, "%s: the suffix of '%.512s' stands for none of its formats. Use %s.")                    \
    X(BASELINE_UNREADABLE, "zt_open: cannot read config.baseline or ZT_BASELINE '%.512s': %s. Nothing is "   \
                           "compared. Check the path.")                                                      \
    X(BAD_BASELINE,                                                                                          \
      "zt_open: config.baseline or ZT_BASELINE '%.512s' is no report of zetools in JSON, or is "             \
      "damaged. Nothing is compared. Write it with zt_report, or ZT_REPORT=before.json.")                    \
    X(CANNOT_READ, "zt_compare_benches: cannot read '%.512s': %s. Check the path, or write the file with "   \
                   "zt_report_benches first.")                                                               \
    X(BAD_BENCHES, "zt_compare_benches: '%.512s' %s. Write it anew with zt_report_benches.")                 \
    X(NEWER_BENCHES, "zt_compare_benches: '%.512s' has layout %.16s, and zetools " ZETOOLS_VERSION           \
                     " reads layout %u. Use the newer version here too, or write the file anew.")

typedef enum zt__message {
#define X(identifier, format) ZT__##identifier,
    ZT__MESSAGES(X)
#undef X
        ZT__MESSAGE_COUNT
} zt__message;

/* Each format is a constant of its own, so that compilers check the arguments of zt__report. */
#define X(identifier, format)                                                                                \
    static const char zt__format_##identifier[] ZT__UNUSED = "[" #identifier "] " format;
ZT__MESSAGES(X)
#undef X

/* How many different messages of a kind are logged. */
enum { ZT__LOGGED_OF_KIND = 8 };

/* The messages of a profiler or stream. */
typedef struct zt__diagnostics {
    zt__mutex *mutex; /* of the profiler or stream */
    zt__message_text last;
    /* Of each message that was logged, a hash of its text without digits, which is not 0: a message that
       differs from it in numbers alone is not logged again. */
    uint64_t logged[ZT__MESSAGE_COUNT][ZT__LOGGED_OF_KIND];
    zt_log_fn log;
    void *log_user;
    int device_lost; /* atomic */
} zt__diagnostics;

/* The log functions that this thread is in: a list, from the innermost. */
typedef struct zt__log_call {
    const zt__diagnostics *diagnostics;
    const struct zt__log_call *outer;
} zt__log_call;

/* zt__report(diagnostics, IDENTIFIER, result, arguments...) stores a message as the last one of the thread
   and of a profiler, stream or debugger, and logs it unless it was logged before, or eight others of its kind
   were. If `diagnostics` is NULL, prints it if ZT_LOG asks for that. Returns `result`, which is not SUCCESS.
   The log function is a callback: no mutex may be held. */
#define zt__report(diagnostics, identifier, ...)                                                             \
    zt__report_message(diagnostics, ZT__##identifier, zt__format_##identifier, __VA_ARGS__)

/* Prints a line on standard error. If that cannot be written, the line is lost. */
ZT__PRIVATE ZT__CHECKED_FORMAT(1, 2) void zt__print_message(const char *format, ...);

/* Returns the name of a cause: "report error", "no probe", ... */
ZT__PRIVATE const char *zt__cause_name(zt_cause cause);

ZT__PRIVATE void zt__log_to_stderr(int result, const char *text, void *user);

/* Returns the log function of an application that has set none: with ZT_LOG, one that prints; else NULL. */
ZT__PRIVATE zt_log_fn zt__default_log(void);

/* `result` is unsigned, because in C++ va_start must not follow an enumeration. */
ZT__PRIVATE ZT__CHECKED_FORMAT(3, 5) ze_result_t
    zt__report_message(zt__diagnostics *diagnostics, zt__message message, const char *format, unsigned result,
                       ...);

/* Returns whether `call` was called from the log function of these diagnostics, and reports it if so. */
ZT__PRIVATE int zt__is_inside_log(zt__diagnostics *diagnostics, const char *call);

/* Returns whether a call has reported that the device is lost. */
ZT__PRIVATE int zt__is_device_lost(const zt__diagnostics *diagnostics);

ZT__PRIVATE int zt__means_device_loss(ze_result_t result);

/* Reports and records that the device is lost. Returns `result`. */
ZT__PRIVATE ze_result_t zt__report_device_loss(zt__diagnostics *diagnostics, ze_result_t result,
                                               const char *call);

/* Reports a driver call unless it has succeeded. Returns `result`. */
ZT__PRIVATE ze_result_t zt__check(zt__diagnostics *diagnostics, ze_result_t result, const char *call,
                                  const char *remedy);

ZT__PRIVATE ze_result_t zt__report_null(zt__diagnostics *diagnostics, const char *call, const char *what);

ZT__PRIVATE ze_result_t zt__report_null_handle(zt__diagnostics *diagnostics, const char *call,
                                               const char *what);

ZT__PRIVATE ze_result_t zt__report_no_memory(zt__diagnostics *diagnostics, const char *call,
                                             const char *what);

/* Ensures that the block which all copies share exists (base/shared.h). Reports a failure. */
ZT__PRIVATE ze_result_t zt__check_process(zt__diagnostics *diagnostics, const char *call);

/* Returns the last message of a profiler or stream, by whichever thread. The text is this thread's own copy,
   valid until the thread calls the library again. */
ZT__PRIVATE const char *zt__get_last_error(zt__diagnostics *diagnostics);

/* Makes the last message of what is destroyed next that of the thread, with another result. */
ZT__PRIVATE void zt__keep_error(const zt__diagnostics *diagnostics, ze_result_t result);

extern ZT__THREAD_LOCAL const zt__log_call *zt__log_calls;
