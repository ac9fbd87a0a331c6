/* run.trace.json: a trace in the Trace Event format, for Chrome. */

#include "reports/trace_events.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/programs.h"
#include "base/shared.h"
#include "base/system.h"
#include "base/writer.h"
#include "regions/profiler.h"
#include "reports/json.h"
#include "reports/run_facts.h"
#include "reports/trace_sink.h"
#include "results/results.h"

/* Returns the number of the process that stands for a device. */
static long zt__process_of_device(const zt__trace_sink *sink, uint32_t device) {
    enum { SYSTEM_NUMBERS = 1 << 22 }; /* the system's numbers of processes are lower */
    return sink->program +
           (1 + (long)((sink->first_device + device - 1) % ZT__MAX_PROFILERS)) * SYSTEM_NUMBERS;
}

/* Writes the beginning of an event. The caller adds its other members and the closing brace. `phase` is its
   type: "X" a span, "C" a counter, "i" an instant, "s" and "f" begin and end of a flow, "M" a name. */
static void zt__begin_json_event(zt__trace_sink *sink, const char *phase, const char *name,
                                 zt__trace_track track) {
    zt__writer *writer = sink->writer;
    char *demangled;
    zt__write_comma(writer);
    zt__print(writer, "\n{\"ph\":\"%s\",\"name\":", phase);
    zt__write_json_string(writer, zt__show_name(name, &demangled));
    free(demangled);
    zt__print(writer, ",\"pid\":%ld",
              track.device ? zt__process_of_device(sink, track.device) : sink->program);
    if (*phase != 'C') { /* counters are of a process */
        zt__print(writer, ",\"tid\":%u", (unsigned)track.number);
    }
}

/* Writes a time in microseconds, as the format wants it, exactly. */
static void zt__write_event_time(zt__writer *writer, const char *name, uint64_t ns) {
    zt__print(writer, ",\"%s\":%llu.%03u", name, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static int zt__begin_json_trace(zt__trace_sink *sink) {
    zt__writer *writer = sink->writer;
    zt__run run;
    zt__read_run(sink->document, &run);
    zt__write_text(writer, "{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    zt__write_json_text(writer, "zetools", ZETOOLS_VERSION);
    zt__write_json_text(writer, "clock", "CLOCK_MONOTONIC");
    zt__write_json_text(writer, "program", sink->profiler->facts.program);
    zt__write_json_text(writer, "device", sink->profiler->device_name);
    zt__write_json_run(writer, &run, ZT__RUN_COUNTS);
    zt__write_json_run(writer, &run, ZT__RUN_OWN_TIME);
    zt__write_text(writer, "},\n\"traceEvents\":[");
    return 1;
}

static int zt__end_json_trace(zt__trace_sink *sink) {
    zt__write_text(sink->writer, "\n]}\n");
    return 1;
}

/* Writes the name of the program, the device or a track, and its place among the others. */
static void zt__name_json_track(zt__trace_sink *sink, zt__trace_track track, const char *name) {
    int is_process = track.number == 0;
    zt__begin_json_event(sink, "M", is_process ? "process_name" : "thread_name", track);
    zt__write_text(sink->writer, ",\"args\":{");
    zt__write_json_text(sink->writer, "name", name);
    zt__write_text(sink->writer, "}}");
    if (is_process || track.device) { /* threads are in the order of their numbers */
        zt__begin_json_event(sink, "M", is_process ? "process_sort_index" : "thread_sort_index", track);
        zt__print(sink->writer, ",\"args\":{\"sort_index\":%u}}",
                  is_process ? (unsigned)track.device : (unsigned)track.number);
    }
}

static void zt__begin_json_sequence(zt__trace_sink *sink, zt__trace_track track) {
    sink->sequence = track;
}

static void zt__begin_json_queue(zt__trace_sink *sink, zt__trace_track track, const char *name) {
    (void)sink;
    (void)track;
    (void)name;
}

/* Writes what stands before an argument. */
static void zt__begin_json_argument(zt__trace_sink *sink, const char *name) {
    if (!sink->has_arguments) {
        zt__write_text(sink->writer, ",\"args\":{");
        sink->has_arguments = 1;
    }
    zt__write_comma(sink->writer);
    zt__write_json_string(sink->writer, name);
    zt__write_text(sink->writer, ":");
}

/* Writes three numbers, such as "128 x 8 x 1", if they are known. */
static void zt__add_json_extent(zt__trace_sink *sink, const char *name, const uint32_t extent[3]) {
    if (extent[0]) {
        zt__begin_json_argument(sink, name);
        zt__print(sink->writer, "\"%u x %u x %u\"", (unsigned)extent[0], (unsigned)extent[1],
                  (unsigned)extent[2]);
    }
}

/* On track 0, an instant is one of the whole process. */
static void zt__begin_json_span(zt__trace_sink *sink, const zt__trace_event *event) {
    zt__writer *writer = sink->writer;
    int is_instant = event->kind == ZT__TRACE_INSTANT;
    zt__begin_json_event(sink, is_instant ? "i" : "X", event->name, event->track);
    zt__write_event_time(writer, "ts", event->begin_ns);
    if (is_instant) {
        zt__print(writer, ",\"s\":\"%s\"", event->track.number ? "t" : "p");
    } else {
        zt__write_event_time(writer, "dur", event->end_ns - event->begin_ns);
    }
    zt__print(writer, ",\"cat\":\"%s\"%s", event->category, is_instant ? ",\"args\":{" : "");
    sink->event = *event;
    sink->is_open = 1;
    sink->has_arguments = is_instant;
    if (event->origin) {
        zt__add_json_extent(sink, "groups", event->origin->group_count);
        zt__add_json_extent(sink, "group size", event->origin->group_size);
    }
}

/* Writes a number. Whole numbers, such as counts, are exact. */
static void zt__add_json_number(zt__trace_sink *sink, const char *name, double number) {
    enum { DIGITS = 6 };
    zt__begin_json_argument(sink, name);
    if (zt__is_whole(number)) {
        zt__print(sink->writer, "%lld", (long long)number);
    } else {
        zt__write_digits(sink->writer, number, DIGITS);
    }
}

static void zt__add_json_argument(zt__trace_sink *sink, const char *name, const char *text) {
    zt__begin_json_argument(sink, name);
    zt__write_json_string(sink->writer, text);
}

static void zt__add_json_flag(zt__trace_sink *sink, const char *name) {
    zt__begin_json_argument(sink, name);
    zt__write_text(sink->writer, "true");
}

static void zt__end_json_event(zt__trace_sink *sink) {
    if (sink->is_open) {
        zt__write_text(sink->writer, sink->has_arguments ? "}}" : "}");
    }
    sink->is_open = 0;
}

/* Writes begin or end ("s" or "f") of a flow, an event of its own. It leads from and to the innermost span at that time
   that is written before it. */
static void zt__write_json_flow(zt__trace_sink *sink, const char *phase, uint32_t id) {
    zt__end_json_event(sink);
    zt__begin_json_event(sink, phase, "submit", sink->event.track);
    zt__write_event_time(sink->writer, "ts", sink->event.begin_ns);
    zt__print(sink->writer, ",\"cat\":\"flow\",\"id\":%u%s}", (unsigned)id,
              *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void zt__begin_json_flow(zt__trace_sink *sink, uint32_t id, int is_to_region) {
    (void)is_to_region;
    zt__write_json_flow(sink, "s", id);
}

static void zt__end_json_flow(zt__trace_sink *sink, uint32_t id) {
    zt__write_json_flow(sink, "f", id);
}

static void zt__end_json_slice(zt__trace_sink *sink, uint64_t ns) {
    (void)sink; /* a span has its length */
    (void)ns;
}

static void zt__declare_json_counters(zt__trace_sink *sink, const zt__trace_counters *counters) {
    sink->counters = *counters;
}

static void zt__write_json_counter(zt__trace_sink *sink, uint32_t counter, uint64_t ns, double value,
                                   int digits) {
    zt__trace_track device = {sink->sequence.device, 0};
    zt__begin_json_event(sink, "C", sink->counters.label_at(sink->counters.labels, counter), device);
    zt__write_event_time(sink->writer, "ts", ns);
    zt__write_text(sink->writer, ",\"args\":{\"value\":");
    if (digits) {
        zt__write_digits(sink->writer, value, digits);
    } else {
        zt__print(sink->writer, "%llu", (unsigned long long)value);
    }
    zt__write_text(sink->writer, "}}");
}

ZT__PRIVATE const zt__trace_format zt__trace_events = {0,
                                                       zt__begin_json_trace,
                                                       zt__end_json_trace,
                                                       zt__name_json_track,
                                                       zt__begin_json_sequence,
                                                       zt__begin_json_queue,
                                                       zt__begin_json_span,
                                                       zt__add_json_number,
                                                       zt__add_json_argument,
                                                       zt__add_json_flag,
                                                       zt__begin_json_flow,
                                                       zt__end_json_flow,
                                                       zt__end_json_event,
                                                       zt__end_json_slice,
                                                       zt__declare_json_counters,
                                                       zt__write_json_counter};
