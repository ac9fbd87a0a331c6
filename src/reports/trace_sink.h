/* What a trace consists of, whatever its format: tracks, events with arguments, flows, counters. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "base/text.h"
#include "base/writer.h"
#include "regions/profiler.h"

typedef enum zt__trace_kind { ZT__TRACE_SLICE, ZT__TRACE_REGION, ZT__TRACE_INSTANT } zt__trace_kind;

/* A track of the program is a thread, by its number in the system. Tracks of a device count from 1. Track 0 is the
   program or the device itself. */
typedef struct zt__trace_track {
    uint32_t device; /* its number, from 1; 0: the program */
    uint32_t number;
} zt__trace_track;

typedef struct zt__trace_event {
    zt__trace_kind kind;
    const char *name, *category;
    zt__trace_track track;
    uint64_t begin_ns, end_ns; /* an instant has no end */
    uint32_t id;               /* of a region: the number of the flow to it, */
    const zt__origin *origin;  /* and where it comes from. NULL: not a region */
} zt__trace_event;

/* What counters are of, in Perfetto's numbers. */
typedef enum zt__counter_kind {
    ZT__COUNTERS_OF_SYSTEM = 1,
    ZT__COUNTERS_OF_MEMORY = 5,
    ZT__COUNTERS_OF_COMPUTE = 6
} zt__counter_kind;

/* Counters that are written together. A label is a name with its unit, such as "GPU_BUSY [%]". */
typedef struct zt__trace_counters {
    zt__counter_kind kind;
    const char *group;
    const char *prefix; /* of names, where another group has the same */
    zt__name_fn label_at;
    const void *labels;
    uint32_t count;
} zt__trace_counters;

typedef struct zt__perfetto zt__perfetto;

/* A trace that is being written. */
typedef struct zt__trace_sink {
    const struct zt__trace_format *format;
    const struct zt__document *document;
    zt_profiler *profiler;
    zt__writer *writer;
    long program;             /* the number of the process */
    uint32_t first_device;    /* from 0: of the first device, among those of all traces of the process */
    zt__trace_track sequence; /* that was begun last */
    zt__trace_counters counters;
    zt__trace_event event; /* that was begun last */
    int is_open, has_arguments;
    zt__perfetto *perfetto; /* NULL in other formats */
} zt__trace_sink;

/* How a format writes each of them. */
typedef struct zt__trace_format {
    int counts_regions; /* metrics of regions are counters, else arguments */

    /* Returns 0 without memory. */
    int (*begin)(zt__trace_sink *sink);
    int (*end)(zt__trace_sink *sink);

    /* Names the program or the device, or a track of it. A sequence ends before. */
    void (*name_track)(zt__trace_sink *sink, zt__trace_track track, const char *name);

    /* Announces events that follow each other in time, for the most part: slices and instants of this track, regions of
       any track of the device. */
    void (*begin_sequence)(zt__trace_sink *sink, zt__trace_track track);

    /* Announces that regions of this track follow in this sequence. */
    void (*begin_queue)(zt__trace_sink *sink, zt__trace_track track, const char *name);

    /* Begins an event, which has, in this order, arguments and flows. */
    void (*begin_event)(zt__trace_sink *sink, const zt__trace_event *event);
    void (*add_number)(zt__trace_sink *sink, const char *name, double number);
    void (*add_text)(zt__trace_sink *sink, const char *name, const char *text);
    void (*add_flag)(zt__trace_sink *sink, const char *name); /* that is true */
    void (*begin_flow)(zt__trace_sink *sink, uint32_t id, int is_to_region);
    void (*end_flow)(zt__trace_sink *sink, uint32_t id);
    void (*end_event)(zt__trace_sink *sink);

    /* Ends the innermost slice of the sequence's track. Before that, slices inside of it have begun and ended. */
    void (*end_slice)(zt__trace_sink *sink, uint64_t ns);

    /* Declares the counters of the sequence; later ones take their place. */
    void (*declare_counters)(zt__trace_sink *sink, const zt__trace_counters *counters);

    /* Writes the value of a counter from a time on, which is finite, in so many digits; 0: a count, exactly. */
    void (*write_counter)(zt__trace_sink *sink, uint32_t counter, uint64_t ns, double value, int digits);
} zt__trace_format;
