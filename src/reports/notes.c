/* Notes below reports. */

#include "reports/notes.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/figures.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/phase_stack.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/shared.h"
#include "modules/kernel_facts.h"
#include "regions/names.h"
#include "regions/profiler.h"
#include "regions/recordings.h"
#include "regions/reporting.h"
#include "reports/facts.h"
#include "reports/own_time.h"
#include "results/phase_times.h"
#include "results/results.h"
#include "streams/power.h"
#include "tracer/hotspots.h"
#include "tracer/memory.h"
#include "tracer/memory_use.h"
#include "tracer/results.h"
#include "tracer/tracer.h"
#include "tracer/unmeasured.h"

static ZT__CHECKED_FORMAT(3, 4) void zt__add_note(zt__document *document, zt__note_fn note,
                                                  const char *format, ...) {
    char text[sizeof document->profiler->availability_text.text + 128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note(document, text);
}

/* What to do about samples that are lost or dropped, of the causes from ZT_LOST_NEVER_DELIVERED on. Who looks at a
   program by zt_auto may not be able to change it: what it does then is different, or is stated instead. */
static const struct {
    const char *remedy, *of_zt_auto; /* NULL: the same */
} zt__remedies[ZT_CAUSE_COUNT - ZT_LOST_NEVER_DELIVERED] = {
    {"On immediate lists, drivers drop a query now and then; recorded lists lose none. Work that has not "
     "ended at zt_close has to be waited for.",
     "On immediate lists, drivers drop a query now and then; recorded lists lose none. Others had not ended "
     "when "
     "tracing ended."},
    {"Execute recorded lists with zt_execute, or collect after each execution.",
     "Their lists were executed again before they could be read, or still ran when tracing ended."},
    {"Wait for the work inside of ZT_PASSES.", NULL},
    {"The log names the call that failed.", "ZT_LOG=stderr names the call that failed."},
    {"Collect at least once in a turn of the device's clock. Some drivers return wrong times.",
     "Some drivers return wrong times."},
    {"Let no two commands that signal an event be in flight at once.", NULL},
    {"Open a new profiler when the device is back.", "Start the program again when the device is back."},
    {"Raise config.max_probes, or call zt_collect more often.", "Choose fewer kernels with ZT_KERNELS."},
    {"Free memory, or lower config.probes_per_step and config.samples.",
     "Free memory, or choose fewer kernels with ZT_KERNELS."},
    {"Use fewer names.", "Choose fewer kernels with ZT_KERNELS."},
    {"The log names the call that failed.", "ZT_LOG=stderr names the call that failed."},
    {"Call zt_end before zt_release and zt_close.", NULL},
    {"Open a new profiler when the device is back.", "Start the program again when the device is back."},
    {"Call zt_reset or zt_release for lists that are reset or destroyed.",
     "Their lists were not executed while tracing."},
};

/* Returns what to do about samples that are lost or dropped of a cause. */
static const char *zt__find_remedy(zt_cause cause, int is_auto) {
    uint32_t i = (uint32_t)cause - ZT_LOST_NEVER_DELIVERED;
    if (cause < ZT_LOST_NEVER_DELIVERED) {
        return "The device flagged the data as unusable.";
    }
    return is_auto && zt__remedies[i].of_zt_auto ? zt__remedies[i].of_zt_auto : zt__remedies[i].remedy;
}

/* Notes how many of something are missing, and what to do. */
static void zt__note_missing(zt__document *document, zt__note_fn note, uint64_t count, const char *what,
                             const char *remedy) {
    if (count > 0) {
        zt__add_note(document, note, "%llu sample%s %s. %s", (unsigned long long)count,
                     count == 1 ? " is" : "s are", what, remedy);
    }
}

ZT__PRIVATE void zt__note_why_empty(zt__document *document, zt__note_fn note) {
#ifdef ZETOOLS_TRACER
    zt__tracer *tracer = zt__load(&document->profiler->tracer);
    zt_trace_counts counts = zt__get_launch_counts(document->profiler);
    const zt__traced_device *device = tracer ? zt__load(&tracer->devices) : NULL;
    uint64_t copies = 0;
    if (tracer && zt__load(&tracer->start_result) == ZE_RESULT_SUCCESS &&
        tracer->measured[ZT__CALL_CommandListAppendLaunchKernel]) {
        if (counts.launches > 0) {
            zt__add_note(
                document, note,
                "%llu launch%s: %llu measured, %llu left out by ZT_KERNELS, zt_trace_config or a pause.",
                (unsigned long long)counts.launches, counts.launches == 1 ? "" : "es",
                (unsigned long long)counts.measured, (unsigned long long)counts.filtered);
        } else if (!zt__load(&tracer->was_layer_off)) {
            note(document, "No kernel was launched while tracing.");
        }
        for (; device;
             device = zt__load(&device->next)) { /* a profiler is one of the tracer's, or all are joined */
            copies += device->profiler == document->profiler || document->profiler->joined
                          ? device->copies_seen
                          : 0;
        }
        if (copies > 0) {
            zt__add_note(document, note, "%llu %s not measured: set ZT_COPIES=1.", (unsigned long long)copies,
                         copies == 1 ? "copy or fill was" : "copies and fills were");
        } else if (counts.launches == 0 && !tracer->automatic &&
                   !tracer->measured[ZT__CALL_CommandListAppendMemoryCopy]) {
            note(document, "zt_trace_config.copies measures copies and fills.");
        }
        return;
    }
#endif
    note(document, "No region has samples: begin regions with zt_begin, and call zt_collect.");
}

ZT__PRIVATE void zt__note_elsewhere(zt__document *document, zt__note_fn note) {
#ifdef ZETOOLS_TRACER
    zt_trace_counts counts = zt__get_launch_counts(document->profiler);
    zt__tracer *tracer = zt__load(&document->profiler->tracer);
    uint64_t unseen_executions = 0;
    int start_result = tracer ? zt__load(&tracer->start_result) : 0;
    int has_unseen_pointers = tracer && zt__load(&tracer->has_unseen_pointers);
    char text[320];
    uint32_t i;
    if (tracer) {
        zt__lock(&tracer->mutex);
        unseen_executions = tracer->automatic ? tracer->unseen_executions : 0;
        zt__unlock(&tracer->mutex);
    }
    if (start_result != 0) {
        zt__add_note(
            document, note,
            "Tracing is off: the last zt_trace_start failed (%s). Kernels that were launched since are not "
            "shown.",
            zt_result_name((ze_result_t)start_result));
    }
    if (tracer && zt__load(&tracer->was_layer_off)) {
        note(document, ZT__LAYER_WAS_OFF);
    }
    for (i = 0; i < ZT_UNMEASURED_COUNT; i++) {
        if (zt__describe_unmeasured(&counts, (zt_unmeasured)i, text, sizeof text)) {
            note(document, text);
        }
    }
    if (unseen_executions > 0) {
        zt__add_note(document, note, ZT__UNSEEN_EXECUTIONS, (unsigned long long)unseen_executions);
    }
    if (has_unseen_pointers) {
        zt__add_note(document, note,
                     "zeDriverGetExtensionFunctionAddress returned pointers of a second driver, and launches "
                     "through them are not seen: shares are of the others.");
    }
    for (i = 0; i < ZT_SERIALISED_COUNT; i++) {
        if (zt__describe_serialised(&counts, (zt_serialised)i, text, sizeof text)) {
            note(document, text);
        }
    }
#else
    (void)document, (void)note;
#endif
}

#ifdef ZETOOLS_TRACER

/* Appends an amount of memory to a sentence: "12.3 MB". */
static void zt__append_bytes(char *text, size_t room, uint64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    uint32_t unit = 0;
    for (; unit + 1 < ZT__COUNT_OF(units) && amount >= 999.5; unit++) {
        amount /= 1000;
    }
    zt__append_number(text, room, amount);
    zt__append(text, room, " %s", bytes == 1 ? "byte" : units[unit]);
}

/* A phase, or none, with what was allocated in it and is not freed. */
typedef struct zt__unfreed {
    const zt__path *phase;
    uint64_t count, bytes;
} zt__unfreed;

/* Finds the phases with most unfreed bytes, the root among them, most first. Returns how many there are. */
static uint32_t zt__find_unfreed(zt__document *document, zt__unfreed *most, uint32_t room) {
    zt_profiler *profiler = document->profiler;
    uint32_t i, place, count = 0;
    zt__lock(&profiler->mutex);
    for (i = 0; i <= document->path_count; i++) {
        const zt__path *path = i < document->path_count ? zt__path_at(profiler, i) : &profiler->root;
        zt__unfreed found = {path, path->memory.unfreed, path->memory.unfreed_bytes};
        if (!found.count) {
            continue;
        }
        for (place = count < room ? count : room; place > 0 && most[place - 1].bytes < found.bytes; place--) {
            if (place < room) {
                most[place] = most[place - 1];
            }
        }
        if (place < room) {
            most[place] = found;
        }
        count++;
    }
    zt__unlock(&profiler->mutex);
    return count;
}

/* Notes how much memory was in use, and in which phases it was allocated and is not freed. */
static void zt__note_memory(zt__document *document, zt__note_fn note) {
    enum { MOST_NAMED = 3 };
    const zt_memory_info info = zt__get_memory_info(document->profiler);
    int is_watched = zt__is_memory_watched(document->profiler);
    zt__unfreed most[MOST_NAMED];
    uint64_t named = 0;
    uint32_t count, i;
    char text[1024] = "Device memory: at most ";
    if (!info.is_watched) {
        return;
    }
    zt__append_bytes(text, sizeof text, info.peak_bytes);
    zt__append(text, sizeof text, " in use at once");
    if (info.host_peak_bytes) {
        zt__append(text, sizeof text, ", and ");
        zt__append_bytes(text, sizeof text, info.host_peak_bytes);
        zt__append(text, sizeof text, " of the host");
    }
    if (info.unfreed == 0) {
        zt__append(text, sizeof text, "; %llu allocation%s, all freed.", (unsigned long long)info.allocations,
                   info.allocations == 1 ? "" : "s");
        note(document, text);
    } else {
        zt__append(text, sizeof text, "; %llu of %llu allocation%s (", (unsigned long long)info.unfreed,
                   (unsigned long long)info.allocations, info.allocations == 1 ? "" : "s");
        zt__append_bytes(text, sizeof text, info.unfreed_bytes);
        zt__append(text, sizeof text, is_watched ? ") not freed:" : ") not freed when tracing ended:");
        count = zt__find_unfreed(document, most, MOST_NAMED);
        for (i = 0; i < count && i < MOST_NAMED; i++) {
            const zt__path *phase = most[i].phase;
            char *path = phase->depth > 1 ? zt__name_path(document, phase) : NULL;
            zt__append(text, sizeof text, "%s %llu in ", i ? "," : "", (unsigned long long)most[i].count);
            if (phase->depth > 0) {
                zt__append(text, sizeof text, "\"%.100s\"", path ? path : phase->key.region->name);
            } else {
                zt__append(text, sizeof text, "no phase");
            }
            zt__free(&document->profiler->config.allocator, path);
            named += most[i].count;
        }
        if (named < info.unfreed) {
            zt__append(text, sizeof text, ", %llu in others", (unsigned long long)(info.unfreed - named));
        }
        zt__append(text, sizeof text, ".");
        note(document, text);
    }
    if (info.unseen > 0) {
        zt__add_note(document, note,
                     "%llu further allocation%s not watched: there is no memory, or more than %u are not "
                     "freed.",
                     (unsigned long long)info.unseen, info.unseen == 1 ? " was" : "s were",
                     (unsigned)ZT__MAX_ALLOCATIONS);
    }
}

/* Notes a number of samples, as a share of all. */
static void zt__note_samples(zt__document *document, zt__note_fn note, uint64_t samples, uint64_t all,
                             const char *what) {
    if (samples > 0) {
        zt__add_note(document, note, "%llu of %llu instruction samples (%.1f%%) %s",
                     (unsigned long long)samples, (unsigned long long)all,
                     100.0 * (double)samples / (double)all, what);
    }
}

/* Notes which samples of hot spots are not shown, and why lines are not known. */
static void zt__note_hotspots(zt__document *document, zt__note_fn note) {
    zt__hotspots *hotspots = zt__hotspots_of(document->profiler);
    zt_hotspots_counts counts;
    const zt__sampled_kernel *kernel;
    zt__message_text refusal;
    int lacks_debug = 0, lacks_module = 0, lacks_tool, lacks_lines, has_skipped;
    if (!hotspots) {
        return;
    }
    zt__lock(&hotspots->mutex);
    for (kernel = hotspots->kernels; kernel; kernel = kernel->next) {
        lacks_module |= kernel->samples > 0 && !kernel->module;
        lacks_debug |= kernel->samples > 0 && kernel->module && !kernel->module->debug;
    }
    counts = hotspots->counts;
    refusal = hotspots->refusal;
    lacks_tool = hotspots->lacks_tool;
    lacks_lines = hotspots->lacks_lines;
    has_skipped = hotspots->has_skipped_debug;
    zt__unlock(&hotspots->mutex);
    if (refusal.text[0]) {
        zt__add_note(document, note, "%s: %s",
                     counts.samples
                         ? "Hot spots are not of all contexts, devices or times, because sampling was refused"
                         : "Hot spots were not sampled",
                     refusal.text);
    }
    zt__note_samples(document, note, counts.outside, counts.samples,
                     "are in no known kernel: they are of other processes, or of kernels that were neither "
                     "created nor launched while tracing.");
    zt__note_samples(document, note, counts.ambiguous, counts.samples,
                     "are where two kernels lie, as far as the device reports addresses.");
    zt__note_samples(document, note, counts.no_room, counts.samples,
                     "are at further addresses. Raise zt_hotspots_config.addresses.");
    if (counts.discarded > 0) {
        zt__add_note(document, note,
                     "%llu reports of instruction samples could not be used. The log names why.",
                     (unsigned long long)counts.discarded);
    }
    if (counts.drops > 0) {
        zt__add_note(document, note,
                     "The device has dropped instruction samples %llu time%s, because they were not read in "
                     "time. Raise zt_hotspots_config.period_ns.",
                     (unsigned long long)counts.drops, counts.drops == 1 ? "" : "s");
    }
    if (counts.matched > 0 && lacks_tool) {
        note(document, "Source lines of hot spots are not known: install addr2line or llvm-symbolizer.");
    }
    if (lacks_module) {
        note(document, "Source lines of some hot spots are not known, because their kernels were created "
                       "before tracing started, or take the place of others.");
    }
    if (counts.matched > 0 && !lacks_tool && (lacks_debug || lacks_lines)) {
        note(document, has_skipped ? "Source lines of some hot spots are not known. Raise "
                                     "zt_hotspots_config.debug_limit."
                                   : "Source lines of some hot spots are not known, because their modules "
                                     "have no debug information. Build them with -g.");
    }
}
#endif

/* Notes which regions ran at once, and how much, or that this is not known. Clocks are not exact to the last percent. */
static void zt__note_at_once(zt__document *document, zt__note_fn note) {
    enum { MOST_NAMED = 3, LEAST_PERCENT = 1 };
    zt_profiler *profiler = document->profiler;
    const zt__coverage *coverage = &document->coverage;
    const zt__at_once *named[MOST_NAMED + 1];
    double sum = 0;
    char text[1024] = "";
    uint32_t i, place, count = 0, lists = zt__read_locked(profiler, &profiler->list_count);
    if (zt__is_nan(coverage->covered_ns)) {
        if (document->shown_count > 1 && lists > 1) {
            note(document,
                 coverage->overlap.samples > 0
                     ? "Whether regions ran at once cannot be told, because samples are missing."
                     : "Whether regions of different lists ran at once cannot be told without a timeline: "
                       "set ZT_TIMELINE=65536. Shares are of the sum of their times.");
        }
        return;
    }
    if (coverage->overlap.at_once_ns < coverage->covered_ns * (double)LEAST_PERCENT / 100) {
        return;
    }
    for (i = 0; i < document->path_count; i++) {
        const zt__at_once *path = &document->at_once[i];
        int adds_up = !document->paths[i].is_phase && !zt__is_nan(document->paths[i].share);
        sum += adds_up ? 100 * document->paths[i].share : 0;
        for (place = count; place > 0 && path->ns > named[place - 1]->ns; place--) {
            named[place] = named[place - 1];
        }
        if (place < MOST_NAMED && path->ns > 0) {
            named[place] = path;
            count += count < MOST_NAMED;
        }
    }
    zt__append(text, sizeof text, "Several regions ran at once in ");
    zt__append_time(text, sizeof text, coverage->overlap.at_once_ns);
    zt__append(text, sizeof text, " of the ");
    zt__append_time(text, sizeof text, coverage->covered_ns);
    zt__append(text, sizeof text, " in which any ran:");
    for (i = 0; i < count; i++) {
        zt__subject subject = zt__subject_at(profiler, ZT_PATH(named[i] - document->at_once));
        char *demangled;
        zt__append(text, sizeof text, "%s \"%.100s\" for %.0f%% of its time", i ? "," : "",
                   zt__show_name(subject.region->name, &demangled), 100 * named[i]->ns / named[i]->of_ns);
        free(demangled);
    }
    zt__append(
        text, sizeof text,
        ". Their counters contain work of the others. Shares are of the busy time, and add up to %.0f%%.",
        sum);
    note(document, text);
}

/* Notes what the device took in the whole run, and what cannot be read. */
static void zt__note_power(zt__document *document, zt__note_fn note) {
    zt_power_info power = zt__get_power_info(document->profiler);
    char text[512] = "";
    uint32_t i, named = 0;
    if (!zt__has_power(document->profiler)) {
        return;
    }
    if (power.text[0]) {
        note(document, power.text);
    }
    if (!zt__is_nan(power.joules)) {
        zt__append(text, sizeof text, "The %s took %.1f J in %.1f s, %.1f W.", power.domain, power.joules,
                   power.seconds, power.watts);
    } else if (!zt__is_nan(power.watts)) {
        zt__append(text, sizeof text,
                   "The %s took %.1f W, as far as its energy counter did not go back or fail.", power.domain,
                   power.watts);
    }
    if (!zt__is_nan(power.mhz)) {
        zt__append(text, sizeof text, "%sIts mean clock was %.0f MHz.", *text ? " " : "", power.mhz);
    }
    if (zt__is_positive(power.throttled)) {
        zt__append(text, sizeof text, "%sThe clock was throttled for %.1f%% of the time", *text ? " " : "",
                   100 * power.throttled);
        for (i = 0; i < ZT_THROTTLE_REASONS; i++) {
            if (zt__is_positive(power.throttled_by[i])) {
                zt__append(text, sizeof text, "%s%s (%.1f%%)", named++ ? ", " : ": ", zt__throttle_reasons[i],
                           100 * power.throttled_by[i]);
            }
        }
        zt__append(text, sizeof text, ".");
    }
    if (!zt__is_nan(power.max_celsius)) {
        zt__append(text, sizeof text, "%sThe GPU's temperature was at most %.0f degrees C.", *text ? " " : "",
                   power.max_celsius);
    }
    if (*text) {
        note(document, text);
    }
}

/* Notes the phases that have most of a part of their host time, outside of the phases inside. */
static void zt__note_phase_parts(zt__document *document, zt__note_fn note, const zt__phase_parts *parts,
                                 const char *what, const char *whose, const char *end) {
    enum { MOST_NAMED = 3, LEAST_PERCENT = 10, LEAST_PERCENT_OF_ALL = 5 };
    zt_profiler *profiler = document->profiler;
    const zt__phase_part *named[MOST_NAMED + 1];
    uint32_t i, place, count = 0;
    for (i = 0; i < parts->path_count && i < document->path_count && parts->paths; i++) {
        const zt__phase_part *phase = &parts->paths[i];
        if (!(phase->part_ns * 100 >= phase->host_ns * (double)LEAST_PERCENT &&
              phase->own_part_ns * 100 >= parts->host_ns * (double)LEAST_PERCENT_OF_ALL &&
              phase->own_part_ns > 0)) {
            continue;
        }
        for (place = count; place > 0 && phase->own_part_ns > named[place - 1]->own_part_ns; place--) {
            named[place] = named[place - 1];
        }
        if (place < MOST_NAMED) {
            named[place] = phase;
            count += count < MOST_NAMED;
        }
    }
    for (i = 0; i < count; i++) {
        uint32_t index = (uint32_t)(named[i] - parts->paths);
        const zt__nesting *nesting = &document->paths[index];
        const zt__path *path = zt__subject_at(profiler, nesting->index).path;
        char *name = zt__is_one_of_several(document, nesting) ? zt__name_path(document, path) : NULL;
        char text[512] = "";
        zt__append(text, sizeof text, "In \"%.200s\" %s for %.0f%% of %s time, ",
                   name ? name : path->key.region->name, what, 100 * named[i]->part_ns / named[i]->host_ns,
                   whose);
        zt__append_time(text, sizeof text, named[i]->part_ns);
        zt__append(text, sizeof text, " of ");
        zt__append_time(text, sizeof text, named[i]->host_ns);
        zt__append(text, sizeof text, "%s.", end);
        note(document, text);
        zt__free(&profiler->config.allocator, name);
    }
}

/* Notes the phases in which the device waits most for the host, and the host for the device. */
static void zt__note_waits(zt__document *document, zt__note_fn note) {
    const zt_allocator *allocator = &document->profiler->config.allocator;
    zt__phase_parts parts;
    if (!document->has_phases) {
        return;
    }
    document->out_of_memory |= !zt__measure_idle_phases(document->profiler, &parts);
    zt__note_phase_parts(document, note, &parts, "the GPU is idle", "the",
                         ", as far as its work is measured");
    zt__free(allocator, parts.paths);
    document->out_of_memory |= !zt__measure_waits(document->profiler, &parts);
    zt__note_phase_parts(document, note, &parts, "the host waits for the device", "its", "");
    zt__free(allocator, parts.paths);
}

/* Notes with which earlier run this one is compared, what is gone, and why nothing can be compared. */
static void zt__note_baseline(zt__document *document, zt__note_fn note) {
    enum { NAMED = 3 };
    const zt_profiler *profiler = document->profiler;
    const zt__baseline *baseline = profiler->baseline;
    uint32_t i = 0, gone = 0;
    char text[700] = "", *name;
    if (!baseline) {
        return;
    }
    if (*baseline->failure) {
        zt__add_note(document, note, "Nothing is compared with '%.256s': %s.", baseline->path,
                     baseline->failure);
        return;
    }
    zt__add_note(document, note,
                 "\"change\" is that of the mean GPU time since '%.256s' of %s, with an interval of 95%%.",
                 baseline->path, baseline->date);
    if (strcmp(baseline->device, profiler->device_name) != 0 ||
        strcmp(baseline->driver_version, profiler->facts.driver_version) != 0 ||
        baseline->core_clock_mhz != (double)profiler->facts.core_clock_mhz) {
        zt__add_note(document, note,
                     "That was not on the same devices with the same driver and clock: %.128s, driver %.32s, "
                     "%.0f MHz. The change is not that of the program alone.",
                     baseline->device, baseline->driver_version, baseline->core_clock_mhz);
    }
    while ((name = zt__next_gone_path(document, &i)) != NULL) {
        if (gone++ < NAMED) {
            zt__append(text, sizeof text, "%s'%.150s'", gone > 1 ? ", " : "", name);
        }
        zt__free(&profiler->config.allocator, name);
    }
    if (gone > NAMED) {
        zt__append(text, sizeof text, " and %u more", (unsigned)(gone - NAMED));
    }
    if (gone > 0) {
        zt__add_note(document, note, "This run does not have %s.", text);
    }
}

/* Notes how long the library itself has kept threads of the program busy. */
static void zt__note_own_time(zt__document *document, zt__note_fn note) {
    double open_ns, busy_ns;
    char text[128] = "zetools kept threads busy for ";
    zt__measure_own_time(document->profiler, &open_ns, &busy_ns);
    if (zt__is_positive(busy_ns) && zt__is_positive(open_ns)) {
        zt__append_time(text, sizeof text, busy_ns);
        zt__append(text, sizeof text, busy_ns < 0.1 * open_ns ? ", %.2g%% of the " : ", %.0f%% of the ",
                   100 * busy_ns / open_ns);
        zt__append_time(text, sizeof text, open_ns);
        zt__append(text, sizeof text, " since zt_open.");
        note(document, text);
    }
}

ZT__PRIVATE void zt__list_notes(zt__document *document, zt__note_fn note) {
    zt_profiler *profiler = document->profiler;
    zt_availability availability = zt__get_availability(profiler);
    zt_counts counts = zt__get_counts(profiler);
    uint64_t all = 0, with_metrics = 0, others = 0, incomplete = 0, ended = 0, moved;
    zt__waiting waiting;
    uint32_t i, unknown = 0, hotspots = 0;
    int is_auto = 0, leaves_out = 0;
    const char *name; /* of a region that is not ended */
    char text[256];
#ifdef ZETOOLS_TRACER
    zt__tracer *tracer = zt__load(&profiler->tracer);
    uint64_t unknown_launches, replaced = zt__get_launch_counts(profiler).replaced;
    uint32_t failures;
    hotspots = zt__get_hotspot_count(profiler);
    is_auto = tracer && tracer->automatic;
    leaves_out = zt__get_launch_counts(profiler).times_alone > 0;
#endif
    if (document->shown_count == 0 && hotspots == 0) {
        zt__note_why_empty(document, note);
    }
    zt__note_elsewhere(document, note);
#ifdef ZETOOLS_TRACER
    zt__lock(&profiler->mutex);
    unknown_launches = profiler->unknown_launches;
    zt__unlock(&profiler->mutex);
    if (unknown_launches > 0) {
        zt__add_note(document, note,
                     "What the kernels of %llu launches are made of is not known: there is no memory, or "
                     "there are more than %u kernels.",
                     (unsigned long long)unknown_launches, (unsigned)ZT__MAX_KERNELS);
    }
    if (replaced > 0) {
        zt__add_note(document, note,
                     "zt_replace has replaced %llu kernel%s: figures are those of the replacements.",
                     (unsigned long long)replaced, replaced == 1 ? "" : "s");
    }
    if (tracer && zt__load(&tracer->modules.failures)) {
        zt__message_text first;
        zt__lock(&tracer->modules.mutex);
        failures = tracer->modules.failures;
        first = tracer->modules.failure;
        zt__unlock(&tracer->modules.mutex);
        snprintf(text, sizeof text, failures == 1 ? "." : " %u times. The first:", (unsigned)failures);
        zt__add_note(document, note, "Writing files of modules has failed%s %s", text, first.text);
    }
#endif
    if (availability != ZT_AVAILABLE && availability != ZT_TIMES_BY_CHOICE) {
        zt__add_note(document, note, "There are no metrics: %s", zt__get_availability_text(profiler));
    }
    for (i = 0; i < document->region_count; i++) {
        unknown += (uint32_t)(zt__is_nan(document->regions[i].own_ns) && !document->regions[i].is_phase);
    }
    if (unknown > 0) {
        zt__add_note(document, note,
                     "The own time of %u region%s is not known, because samples are missing, regions overlap "
                     "or lists ran outside of zt_execute. %s share is estimated from what was collected.",
                     (unsigned)unknown, unknown == 1 ? "" : "s", unknown == 1 ? "Its" : "Their");
    }
    zt__note_at_once(document, note);
    zt__note_waits(document, note);
    zt__note_power(document, note);
    zt__lock(&profiler->mutex);
    for (i = 0; i < document->path_count; i++) { /* packed statistics have samples with times alone, too */
        const zt__path *path = zt__path_at(profiler, i);
        incomplete += path->incomplete;
        if (path->key.region->is_phase) {
            continue;
        }
        all += path->statistics.count;
        with_metrics += path->with_metrics;
        if (i >= ZT__MAX_PATHS && strcmp(path->key.region->name, ZT__OTHER_REGION) == 0) {
            others += path->statistics.count;
        }
    }
    for (i = 0; i < profiler->entries.capacity; i++) {
        const zt__entry *entry = (const zt__entry *)profiler->entries.entries[i].value;
        ended += entry && !entry->is_open;
    }
    moved = profiler->moved_samples;
    zt__unlock(&profiler->mutex);
    if (incomplete > 0) {
        zt__add_note(
            document, note,
            "%llu %s of phases %s left out of mean, median and p95, because samples in them are missing.",
            (unsigned long long)incomplete, incomplete == 1 ? "entry" : "entries",
            incomplete == 1 ? "is" : "are");
    }
    if (ended > 0) {
        zt__add_note(document, note,
                     "%llu %s of phases %s ended and %s left out of mean, median and p95, because samples "
                     "in them are in flight, or phases inside have not ended.",
                     (unsigned long long)ended, ended == 1 ? "entry" : "entries", ended == 1 ? "has" : "have",
                     ended == 1 ? "is" : "are");
    }
    if (document->has_phases && zt__are_phases_full()) {
        zt__add_note(document, note,
                     "There are %u different phases. Others count in the phase around them. Do not put "
                     "numbers that change into names.",
                     (unsigned)ZT__MAX_PHASES);
    }
    if (moved > 0) {
        zt__add_note(document, note,
                     "%llu samples were appended in another phase than the one in which their list was "
                     "executed. They belong to the latter; ZT_PHASES_AT=append counts them in the former.",
                     (unsigned long long)moved);
    }
    if (profiler->metric_count > 0 && with_metrics < all) {
        int lacks = availability != ZT_AVAILABLE;
        zt__add_note(
            document, note,
            "%llu of %llu samples have times alone%s%s%s%s. Metrics, and what is calculated from them, are "
            "those of the others.",
            (unsigned long long)(all - with_metrics), (unsigned long long)all,
            lacks || leaves_out ? ", because " : "",
            lacks ? "one of the devices or contexts has no metrics" : "",
            lacks && leaves_out ? ", or because " : "",
            leaves_out ? "their launches are outside of every or limit of zt_trace_config" : "");
    }
    if (others > 0) {
        zt__add_note(document, note,
                     "%llu samples are counted as \"" ZT__OTHER_REGION "\", because there are more than %u "
                     "names inside others. Do not put numbers that change into names.",
                     (unsigned long long)others, (unsigned)ZT__MAX_PATHS);
    }
    if (document->differs) {
        note(document, "Where passes differ, metrics of different passes are not of the same work. Repeat "
                       "the same work in each pass, or raise config.pass_tolerance.");
    }

    /* samples that are not in the report */
    waiting = zt__count_waiting(profiler);
    name = zt__name_open_region(profiler);
    snprintf(text, sizeof text, "not ended, such as '%.64s'", name ? name : "");
    zt__note_missing(document, note, waiting.open, text, "Call zt_end for each region that was begun.");
    zt__note_missing(document, note, waiting.recorded, "recorded and not seen to run yet",
                     is_auto ? "Their lists were not executed while tracing."
                             : "Call zt_collect after the execution.");
    zt__note_missing(document, note, waiting.submitted, "in flight",
                     is_auto ? "Their work had not ended when tracing ended."
                             : "Call zt_collect when the work is done.");
    zt__note_missing(
        document, note, waiting.overlapped, "of lists that were executed again before they were read",
        is_auto ? "No queue of theirs was waited for since."
                : "Call zt_release or zt_reset for such a list when the device is done with it, or "
                  "execute it on the same queue once more.");
    for (i = 0; i < ZT_CAUSE_COUNT; i++) {
        snprintf(text, sizeof text, "%s: %s", i < ZT_DROPPED_NO_PROBE ? "lost" : "dropped",
                 zt__cause_name((zt_cause)i));
        zt__note_missing(document, note, zt__get_cause(profiler, (zt_cause)i), text,
                         zt__find_remedy((zt_cause)i, is_auto));
    }
    if (counts.unobserved_lists > 0) {
        zt__add_note(
            document, note,
            "%llu %s ran outside of zt_execute: only the first execution that is seen is measured.%s",
            (unsigned long long)counts.unobserved_lists, counts.unobserved_lists == 1 ? "list" : "lists",
            is_auto ? "" : " Execute recorded lists with zt_execute.");
    }
#ifdef ZETOOLS_TRACER
    zt__note_memory(document, note);
    zt__note_hotspots(document, note);
#endif
    zt__note_baseline(document, note);
    zt__note_own_time(document, note);
}
