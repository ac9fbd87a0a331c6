/* run.pftrace: a trace in Perfetto's own format. */

#include "reports/perfetto.h"

#include "base/compiler.h"
#include "base/deflate.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "base/programs.h"
#include "base/protobuf.h"
#include "base/system.h"
#include "base/text.h"
#include "base/writer.h"
#include "modules/kernel_facts.h"
#include "regions/profiler.h"
#include "reports/trace_sink.h"

/* A file is a sequence of packets (message Trace), compressed some thousand at a time. Files of several processes may
   be joined with cat: what identifies a track, an event, a flow, a device or a sequence is derived from a hash of the
   process and the profiler.

   A sequence of packets has a clock of its own, which counts from packet to packet, a track that slices are on if they
   name no other, and interned data: each text is written once, and then stands for a small number. */

/* The fields of messages that are used, by their numbers in Perfetto's definitions (protos/perfetto/trace). */
enum {
    ZT__TRACE_PACKET = 1,

    ZT__PACKET_CLOCK_SNAPSHOT = 6,
    ZT__PACKET_TIMESTAMP = 8,
    ZT__PACKET_SEQUENCE_ID = 10,
    ZT__PACKET_TRACK_EVENT = 11,
    ZT__PACKET_INTERNED_DATA = 12,
    ZT__PACKET_SEQUENCE_FLAGS = 13,
    ZT__PACKET_COMPRESSED = 50,
    ZT__PACKET_COUNTER_EVENT = 52,
    ZT__PACKET_STAGE_EVENT = 53,
    ZT__PACKET_CLOCK_ID = 58,
    ZT__PACKET_DEFAULTS = 59,
    ZT__PACKET_TRACK_DESCRIPTOR = 60,
    ZT__PACKET_IS_FIRST = 87,

    ZT__DEFAULTS_TRACK_EVENT = 11,
    ZT__DEFAULTS_CLOCK_ID = 58,

    ZT__SNAPSHOT_CLOCK = 1,
    ZT__SNAPSHOT_PRIMARY = 2,
    ZT__CLOCK_ID = 1,
    ZT__CLOCK_TIMESTAMP = 2,
    ZT__CLOCK_IS_INCREMENTAL = 3,

    ZT__TRACK_UUID = 1,
    ZT__TRACK_NAME = 2,
    ZT__TRACK_PROCESS = 3,
    ZT__TRACK_THREAD = 4,
    ZT__TRACK_PARENT = 5,
    ZT__TRACK_CHILD_ORDERING = 11,
    ZT__TRACK_RANK = 12,
    ZT__PROCESS_ID = 1,
    ZT__PROCESS_NAME = 6,
    ZT__THREAD_PROCESS = 1,
    ZT__THREAD_ID = 2,
    ZT__THREAD_NAME = 5,

    ZT__EVENT_CATEGORY = 3,
    ZT__EVENT_ARGUMENT = 4,
    ZT__EVENT_TYPE = 9,
    ZT__EVENT_NAME = 10,
    ZT__EVENT_TRACK = 11,
    ZT__EVENT_FLOW = 47,
    ZT__EVENT_ENDING_FLOW = 48,
    ZT__EVENT_FLAG = 2, /* of an argument */
    ZT__EVENT_CORRELATION = 3000,
    ZT__CORRELATION_SUBMITTED = 1,

    ZT__STAGE_ID = 1,
    ZT__STAGE_DURATION = 2,
    ZT__STAGE_CONTEXT = 5,
    ZT__STAGE_GPU = 11,
    ZT__STAGE_QUEUE = 13,
    ZT__STAGE_STAGE = 14,
    ZT__STAGE_KERNEL = 19,
    ZT__STAGE_NAME = 20,
    ZT__STAGE_LAUNCH = 21,
    ZT__LAUNCH_GROUP_COUNT = 1,
    ZT__LAUNCH_GROUP_SIZE = 2,
    ZT__LAUNCH_ARGUMENT = 3,

    ZT__COUNTERS_COUNTER = 2,
    ZT__COUNTERS_DESCRIPTOR = 4,
    ZT__COUNTER_ID = 1,
    ZT__COUNTER_INTEGER = 2,
    ZT__COUNTER_DOUBLE = 3,

    ZT__INTERNED_ID = 1,
    ZT__INTERNED_NAME = 2,
    ZT__INTERNED_CONTEXT = 23,
    ZT__INTERNED_SPECIFICATION = 24,
    ZT__INTERNED_COUNTERS = 47,
    ZT__INTERNED_KERNEL = 1000,
    ZT__CONTEXT_PROCESS = 2,
    ZT__SPECIFICATION_CATEGORY = 4,
    ZT__KERNEL_DEMANGLED = 3,
    ZT__KERNEL_ARGUMENT = 5,

    ZT__DESCRIBED_COUNTERS = 2,
    ZT__DESCRIBED_GPU = 3,
    ZT__DESCRIPTOR_SPEC = 1,
    ZT__DESCRIPTOR_GROUP = 6,
    ZT__SPEC_ID = 1,
    ZT__SPEC_NAME = 2,
    ZT__SPEC_NUMERATOR = 7,
    ZT__SPEC_DENOMINATOR = 8,
    ZT__SPEC_GROUP = 10,
    ZT__SPEC_DIRECTION = 11,
    ZT__GROUP_ID = 1,
    ZT__GROUP_NAME = 2,
    ZT__GROUP_COUNTER = 4
};

/* Values of these fields. */
enum {
    ZT__STATE_CLEARED = 1, /* flags of a sequence */
    ZT__NEEDS_STATE = 2,
    ZT__MONOTONIC_CLOCK = 3,
    ZT__BOOT_CLOCK = 6, /* the same, with the time that the system slept */
    ZT__SEQUENCE_CLOCK = 64,
    ZT__SLICE_BEGINS = 1, /* types of events */
    ZT__SLICE_ENDS = 2,
    ZT__INSTANT_EVENT = 3,
    ZT__ORDER_BY_RANK = 3,
    ZT__FORWARDS = 2,          /* a value of a counter is that from its time on */
    ZT__OWN_COUNTER_GROUP = 64 /* lower numbers are groups that Perfetto defines */
};

enum { ZT__COMPRESSED_AT_ONCE = 1 << 16 }; /* bytes; Perfetto wants less than 512 KiB */

/* What a key is: a text of some use, or a kernel with the sizes of a launch. */
typedef enum zt__key_kind {
    ZT__KEY_CATEGORY,
    ZT__KEY_EVENT,
    ZT__KEY_ARGUMENT,
    ZT__KEY_TEXT,
    ZT__KEY_LAUNCH_ARGUMENT,
    ZT__KEY_LAUNCH,
    ZT__KEY_KINDS
} zt__key_kind;

/* The number that stands for a key in the sequences that declare it. The key follows in memory. */
typedef struct zt__interned {
    uint32_t number;
    uint32_t declared[ZT__KEY_KINDS]; /* the last sequence that did */
} zt__interned;

/* A kernel with the sizes that it was launched with, as a key: there is no padding. */
typedef struct zt__launch_key {
    uint64_t name; /* its address */
    uint32_t group_count[3], group_size[3];
} zt__launch_key;

struct zt__perfetto {
    zt__protobuf packet;   /* that is open */
    zt__protobuf interned; /* what it, or the next one, declares */
    zt__protobuf packets;  /* that have ended, and are not written yet */
    zt__protobuf file;     /* the same as the file has them */
    zt__deflate_places places;
    zt__mutex mutex;                         /* of the map, which no other thread uses */
    zt__map map;                             /* to zt__interned */
    uint64_t identity;                       /* differs from that of other processes and profilers */
    uint32_t sequence;                       /* from 1 */
    uint64_t last_ns;                        /* by the clock of the sequence */
    zt__trace_track track;                   /* of the sequence */
    uint32_t queues;                         /* the last sequence that has declared some */
    uint32_t stages[ZT__REGION_OF_SYNC + 1]; /* by zt__region_kind: the last sequence that has declared it */
    uint32_t descriptors;                    /* of counters */
    int has_counters;                        /* a packet of counters is open, which has this time: */
    uint64_t counters_ns;
    char process_name[256];
};

/* The stages of regions, by zt__region_kind. In Perfetto's terms, kernels are compute, and all else is other. */
static const struct zt__stage {
    const char *name;
    uint32_t category;
} zt__stages[] = {{"region", 0}, {"region", 0}, {"kernel", 2}, {"copy", 0}, {"barrier", 0}};

/* ---- packets --------------------------------------------------------------------------------------------- */

static uint32_t zt__gpu_of(const zt__perfetto *perfetto, zt__trace_track track) {
    return ((uint32_t)(perfetto->identity >> 32) + track.device - 1) & 0x0FFFFFFF;
}

static uint64_t zt__track_uuid(const zt__perfetto *perfetto, zt__trace_track track) {
    return perfetto->identity + 1 + ((uint64_t)track.device << 40) + track.number;
}

/* Returns the number of a region, which calls refer to. It has few bits, because it is written twice. */
static uint64_t zt__event_number(const zt__perfetto *perfetto, uint32_t id) {
    return (perfetto->identity >> 22) + id;
}

/* Encodes a number, which is shorter as an integer if it is whole. */
static void zt__put_number(zt__protobuf *packet, uint32_t integer_field, uint32_t real_field, double number) {
    if (zt__is_whole(number)) {
        zt__put_uint(packet, integer_field, (uint64_t)(int64_t)number);
    } else {
        zt__put_double(packet, real_field, number);
    }
}

/* Writes the packets that have ended. */
static void zt__write_packets(zt__trace_sink *sink) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__begin_message(&perfetto->file, ZT__TRACE_PACKET);
    zt__put_compressed(&perfetto->file, ZT__PACKET_COMPRESSED, &perfetto->packets, &perfetto->places);
    zt__end_message(&perfetto->file);
    zt__write_bytes(sink->writer, (const char *)perfetto->file.bytes, perfetto->file.used);
    zt__clear_protobuf(&perfetto->packets);
    zt__clear_protobuf(&perfetto->file);
}

/* Ends the packet that is open, if there is one. */
static void zt__end_packet(zt__trace_sink *sink) {
    zt__perfetto *perfetto = sink->perfetto;
    if (!perfetto->packet.used) {
        zt__clear_protobuf(&perfetto->packet); /* messages are open without memory for their first byte */
        return;
    }
    while (perfetto->packet.depth > 0) {
        zt__end_message(&perfetto->packet);
    }
    if (perfetto->interned.used) {
        zt__put_fields(&perfetto->packet, ZT__PACKET_INTERNED_DATA, &perfetto->interned);
    }
    zt__put_fields(&perfetto->packets, ZT__TRACE_PACKET, &perfetto->packet);
    zt__clear_protobuf(&perfetto->packet);
    zt__clear_protobuf(&perfetto->interned);
    perfetto->has_counters = 0;
    if (perfetto->packets.used >= ZT__COMPRESSED_AT_ONCE) {
        zt__write_packets(sink);
    }
}

/* Begins a packet. One of counters is still open, because the next value may have the same time. */
static void zt__begin_packet(zt__trace_sink *sink, uint32_t flags) {
    zt__perfetto *perfetto = sink->perfetto;
    if (perfetto->has_counters) {
        zt__end_packet(sink);
    }
    zt__put_uint(&perfetto->packet, ZT__PACKET_SEQUENCE_ID,
                 (perfetto->identity & 0x0FFFFFFF) + perfetto->sequence);
    zt__put_uint(&perfetto->packet, ZT__PACKET_SEQUENCE_FLAGS, flags);
}

/* Begins a packet with a time. The clock of the sequence cannot go back: an earlier time is one of the system's clock. */
static void zt__begin_timed_packet(zt__trace_sink *sink, uint64_t ns) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__begin_packet(sink, ZT__NEEDS_STATE);
    if (ns < perfetto->last_ns) {
        zt__put_uint(&perfetto->packet, ZT__PACKET_TIMESTAMP, ns);
        zt__put_uint(&perfetto->packet, ZT__PACKET_CLOCK_ID, ZT__MONOTONIC_CLOCK);
        return;
    }
    zt__put_uint(&perfetto->packet, ZT__PACKET_TIMESTAMP, ns - perfetto->last_ns);
    perfetto->last_ns = ns;
}

static void zt__put_clock(zt__protobuf *packet, uint32_t clock, uint64_t ns, int is_incremental) {
    zt__begin_message(packet, ZT__SNAPSHOT_CLOCK);
    zt__put_uint(packet, ZT__CLOCK_ID, clock);
    zt__put_uint(packet, ZT__CLOCK_TIMESTAMP, ns);
    if (is_incremental) {
        zt__put_uint(packet, ZT__CLOCK_IS_INCREMENTAL, 1);
    }
    zt__end_message(packet);
}

/* Ends a sequence of packets. What it has declared since the last packet is dropped, because no packet needs it. */
static void zt__end_sequence(zt__trace_sink *sink) {
    zt__end_packet(sink);
    zt__clear_protobuf(&sink->perfetto->interned);
}

static void zt__begin_packet_sequence(zt__trace_sink *sink, zt__trace_track track) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__protobuf *packet = &perfetto->packet;
    zt__end_sequence(sink);
    perfetto->sequence++;
    perfetto->track = track;
    perfetto->last_ns = sink->profiler->opened_ns;
    zt__begin_packet(sink, ZT__STATE_CLEARED);
    zt__put_uint(packet, ZT__PACKET_IS_FIRST, 1);
    zt__begin_message(packet, ZT__PACKET_DEFAULTS);
    zt__put_uint(packet, ZT__DEFAULTS_CLOCK_ID, ZT__SEQUENCE_CLOCK);
    zt__begin_message(packet, ZT__DEFAULTS_TRACK_EVENT);
    zt__put_uint(packet, ZT__EVENT_TRACK, zt__track_uuid(perfetto, track));
    zt__end_message(packet);
    zt__end_message(packet);
    zt__begin_message(packet, ZT__PACKET_CLOCK_SNAPSHOT);
    zt__put_clock(packet, ZT__MONOTONIC_CLOCK, perfetto->last_ns, 0);
    if (perfetto->sequence == 1) { /* for what else Perfetto has recorded, and expects of each file */
        zt__put_clock(packet, ZT__BOOT_CLOCK, perfetto->last_ns + zt__get_slept_ns(), 0);
    }
    zt__put_clock(packet, ZT__SEQUENCE_CLOCK, 0, 1);
    zt__put_uint(packet, ZT__SNAPSHOT_PRIMARY, ZT__MONOTONIC_CLOCK);
    zt__end_packet(sink);
}

/* ---- interned data --------------------------------------------------------------------------------------- */

/* Returns what stands for a key, which is added if it is new, or NULL without memory. */
static zt__interned *zt__find_interned(zt__perfetto *perfetto, const void *key, size_t length) {
    const zt_allocator *allocator = perfetto->packet.allocator;
    zt__interned *found = (zt__interned *)zt__map_find(&perfetto->map, key, length);
    int has_room;
    if (found) {
        return found;
    }
    zt__lock(&perfetto->mutex);
    has_room = zt__map_make_room(&perfetto->map, allocator, &perfetto->mutex);
    zt__unlock(&perfetto->mutex);
    found = has_room ? (zt__interned *)zt__allocate(allocator, sizeof *found + length + 1, 1) : NULL;
    if (!found) {
        perfetto->interned.out_of_memory = 1;
        return NULL;
    }
    memcpy(found + 1, key, length);
    zt__map_add(&perfetto->map, found + 1, length, found);
    found->number = perfetto->map.count;
    return found;
}

/* Returns whether the sequence has yet to declare what stands for a key, and does from now on. */
static int zt__is_undeclared(const zt__perfetto *perfetto, zt__interned *interned, zt__key_kind kind) {
    int is_undeclared = interned->declared[kind] != perfetto->sequence;
    interned->declared[kind] = perfetto->sequence;
    return is_undeclared;
}

/* Returns the number of a text in this sequence. Names of events are demangled. */
static uint32_t zt__intern_text(zt__perfetto *perfetto, zt__key_kind kind, const char *text) {
    /* Of InternedData: categories, names of events, names of arguments, texts, names of arguments of launches. */
    static const uint32_t fields[] = {1, 2, 3, 29, 1001};
    zt__interned *interned = zt__find_interned(perfetto, text, strlen(text));
    char *demangled = NULL;
    if (!interned) {
        return 0;
    }
    if (zt__is_undeclared(perfetto, interned, kind)) {
        zt__begin_message(&perfetto->interned, fields[kind]);
        zt__put_uint(&perfetto->interned, ZT__INTERNED_ID, interned->number);
        zt__put_text(&perfetto->interned, ZT__INTERNED_NAME,
                     kind == ZT__KEY_EVENT ? zt__show_name(text, &demangled) : text);
        zt__end_message(&perfetto->interned);
        free(demangled);
    }
    return interned->number;
}

/* Declares a queue or a stage. Both have numbers of one kind: stages the first. */
static void zt__declare_specification(zt__perfetto *perfetto, uint32_t number, const char *name,
                                      uint32_t category) {
    zt__begin_message(&perfetto->interned, ZT__INTERNED_SPECIFICATION);
    zt__put_uint(&perfetto->interned, ZT__INTERNED_ID, number);
    zt__put_text(&perfetto->interned, ZT__INTERNED_NAME, name);
    if (category) {
        zt__put_uint(&perfetto->interned, ZT__SPECIFICATION_CATEGORY, category);
    }
    zt__end_message(&perfetto->interned);
}

static uint32_t zt__number_of_queue(zt__trace_track track) {
    return ZT__COUNT_OF(zt__stages) + track.number;
}

/* Declares a queue; before the first one of a sequence the context that all regions are of. */
static void zt__begin_packet_queue(zt__trace_sink *sink, zt__trace_track track, const char *name) {
    zt__perfetto *perfetto = sink->perfetto;
    if (perfetto->queues != perfetto->sequence) {
        perfetto->queues = perfetto->sequence;
        zt__begin_message(&perfetto->interned, ZT__INTERNED_CONTEXT);
        zt__put_uint(&perfetto->interned, ZT__INTERNED_ID, (uint64_t)sink->program);
        zt__put_uint(&perfetto->interned, ZT__CONTEXT_PROCESS, (uint64_t)sink->program);
        zt__end_message(&perfetto->interned);
    }
    zt__declare_specification(perfetto, zt__number_of_queue(track), name, 0);
}

/* ---- arguments ------------------------------------------------------------------------------------------- */

/* The fields of an argument. */
typedef struct zt__argument_fields {
    uint32_t name, integer, real, text;
    zt__key_kind kind;
} zt__argument_fields;

static const zt__argument_fields zt__event_argument = {1, 4, 5, 17, ZT__KEY_ARGUMENT};
static const zt__argument_fields zt__launch_argument = {1, 3, 5, 7, ZT__KEY_LAUNCH_ARGUMENT};

/* Begins an argument of the event that is open. Those of a region are in the message of the launch, which is open,
   too. */
static const zt__argument_fields *zt__begin_argument(zt__trace_sink *sink, const char *name) {
    zt__perfetto *perfetto = sink->perfetto;
    int is_region = sink->event.kind == ZT__TRACE_REGION;
    const zt__argument_fields *fields = is_region ? &zt__launch_argument : &zt__event_argument;
    uint32_t number = zt__intern_text(perfetto, fields->kind, name);
    zt__begin_message(&perfetto->packet, is_region ? ZT__LAUNCH_ARGUMENT : ZT__EVENT_ARGUMENT);
    zt__put_uint(&perfetto->packet, fields->name, number);
    return fields;
}

static void zt__add_packet_number(zt__trace_sink *sink, const char *name, double number) {
    const zt__argument_fields *fields = zt__begin_argument(sink, name);
    zt__put_number(&sink->perfetto->packet, fields->integer, fields->real, number);
    zt__end_message(&sink->perfetto->packet);
}

static void zt__add_packet_text(zt__trace_sink *sink, const char *name, const char *text) {
    const zt__argument_fields *fields = zt__begin_argument(sink, name);
    zt__put_uint(&sink->perfetto->packet, fields->text, zt__intern_text(sink->perfetto, ZT__KEY_TEXT, text));
    zt__end_message(&sink->perfetto->packet);
}

/* Only slices have flags. */
static void zt__add_packet_flag(zt__trace_sink *sink, const char *name) {
    zt__begin_argument(sink, name);
    zt__put_uint(&sink->perfetto->packet, ZT__EVENT_FLAG, 1);
    zt__end_message(&sink->perfetto->packet);
}

/* ---- kernels --------------------------------------------------------------------------------------------- */

/* Fields of an argument whose name is not interned, because what it is part of is. */
enum { ZT__NAMED = 2, ZT__NAMED_UNSIGNED = 4, ZT__NAMED_TEXT = 6 };

/* Begins an argument of a kernel. The caller adds its value and ends the message. */
static void zt__begin_kernel_argument(zt__protobuf *interned, const char *name) {
    zt__begin_message(interned, ZT__KERNEL_ARGUMENT);
    zt__put_text(interned, ZT__NAMED, name);
}

/* Adds a number, unless it is not known. */
static void zt__add_kernel_number(zt__protobuf *interned, const char *name, uint64_t number) {
    if (number != UINT32_MAX) {
        zt__begin_kernel_argument(interned, name);
        zt__put_uint(interned, ZT__NAMED_UNSIGNED, number);
        zt__end_message(interned);
    }
}

static uint64_t zt__product_of(const uint32_t extent[3]) {
    return (uint64_t)extent[0] * extent[1] * extent[2];
}

#ifdef ZETOOLS_TRACER

/* Returns what is known of the kernel of a name; nothing, if several have it. */
static zt__kernel_facts zt__find_facts(zt_profiler *profiler, const char *name) {
    zt__kernel_facts facts = zt__unknown_facts();
    uint32_t i, found = 0;
    zt__lock(&profiler->mutex);
    for (i = 0; profiler->kernels && i < profiler->kernels->count; i++) {
        if (strcmp(profiler->kernels->in_order[i]->name, name) == 0) {
            facts = found++ ? zt__unknown_facts() : profiler->kernels->in_order[i]->facts;
        }
    }
    zt__unlock(&profiler->mutex);
    return facts;
}
#endif

/* Adds what the page of compute kernels reads, by the names that it looks for. */
static void zt__describe_launch(zt__trace_sink *sink, const char *name, const zt__origin *origin) {
    zt__protobuf *interned = &sink->perfetto->interned;
    uint64_t items = zt__product_of(origin->group_size);
#ifdef ZETOOLS_TRACER
    zt__kernel_facts facts = zt__find_facts(sink->profiler, name);
    zt__add_kernel_number(interned, "registers_per_thread", facts.registers);
    zt__add_kernel_number(interned, "shared_mem_static", facts.slm_bytes);
    zt__add_kernel_number(interned, "simd_width", facts.simd_width);
    zt__add_kernel_number(interned, "private_bytes", facts.private_bytes);
    zt__add_kernel_number(interned, "spill_bytes", facts.spill_bytes);
#else
    (void)name;
#endif
    zt__add_kernel_number(interned, "grid_size", zt__product_of(origin->group_count));
    if (items) {
        zt__add_kernel_number(interned, "workgroup_size", items);
        zt__add_kernel_number(interned, "thread_count", items * zt__product_of(origin->group_count));
    }
    zt__add_kernel_number(interned, "process_id", (uint64_t)sink->program);
    zt__begin_kernel_argument(interned, "process_name");
    zt__put_text(interned, ZT__NAMED_TEXT, sink->perfetto->process_name);
    zt__end_message(interned);
}

/* Returns the number of a kernel that is launched with these sizes. */
static uint32_t zt__intern_launch(zt__trace_sink *sink, const char *name, const zt__origin *origin) {
    zt__protobuf *interned = &sink->perfetto->interned;
    zt__interned *found;
    zt__launch_key key;
    char *demangled;
    const char *shown;
    key.name = (uint64_t)(uintptr_t)name;
    memcpy(key.group_count, origin->group_count, sizeof key.group_count);
    memcpy(key.group_size, origin->group_size, sizeof key.group_size);
    found = zt__find_interned(sink->perfetto, &key, sizeof key);
    if (!found) {
        return 0;
    }
    if (zt__is_undeclared(sink->perfetto, found, ZT__KEY_LAUNCH)) {
        shown = zt__show_name(name, &demangled);
        zt__begin_message(interned, ZT__INTERNED_KERNEL);
        zt__put_uint(interned, ZT__INTERNED_ID, found->number);
        zt__put_text(interned, ZT__INTERNED_NAME, name);
        if (demangled) {
            zt__put_text(interned, ZT__KERNEL_DEMANGLED, shown);
        }
        zt__describe_launch(sink, name, origin);
        zt__end_message(interned);
        free(demangled);
    }
    return found->number;
}

static void zt__put_extent(zt__protobuf *packet, uint32_t field, const uint32_t extent[3]) {
    uint32_t i;
    if (extent[0]) {
        zt__begin_message(packet, field);
        for (i = 0; i < 3; i++) {
            zt__put_uint(packet, i + 1, extent[i]);
        }
        zt__end_message(packet);
    }
}

/* ---- events ---------------------------------------------------------------------------------------------- */

/* Begins a region, with the message that has the sizes of a launch and all arguments. */
static void zt__begin_stage(zt__trace_sink *sink, const zt__trace_event *event) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__protobuf *packet = &perfetto->packet;
    const zt__origin *origin = event->origin;
    const struct zt__stage *stage = &zt__stages[origin->kind];
    if (perfetto->stages[origin->kind] != perfetto->sequence) {
        perfetto->stages[origin->kind] = perfetto->sequence;
        zt__declare_specification(perfetto, (uint32_t)origin->kind + 1, stage->name, stage->category);
    }
    zt__begin_message(packet, ZT__PACKET_STAGE_EVENT);
    zt__put_uint(packet, ZT__STAGE_ID, zt__event_number(perfetto, event->id));
    zt__put_uint(packet, ZT__STAGE_DURATION, event->end_ns - event->begin_ns);
    zt__put_uint(packet, ZT__STAGE_QUEUE, zt__number_of_queue(event->track));
    zt__put_uint(packet, ZT__STAGE_STAGE, (uint64_t)origin->kind + 1);
    zt__put_uint(packet, ZT__STAGE_GPU, zt__gpu_of(perfetto, event->track));
    zt__put_uint(packet, ZT__STAGE_CONTEXT, (uint64_t)sink->program);
    zt__put_uint(packet, ZT__STAGE_NAME, zt__intern_text(perfetto, ZT__KEY_EVENT, event->name));
    if (origin->group_count[0]) {
        zt__put_uint(packet, ZT__STAGE_KERNEL, zt__intern_launch(sink, event->name, origin));
    }
    zt__begin_message(packet, ZT__STAGE_LAUNCH);
    zt__put_extent(packet, ZT__LAUNCH_GROUP_COUNT, origin->group_count);
    zt__put_extent(packet, ZT__LAUNCH_GROUP_SIZE, origin->group_size);
}

static void zt__begin_packet_event(zt__trace_sink *sink, const zt__trace_event *event) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__protobuf *packet = &perfetto->packet;
    int is_slice = event->kind == ZT__TRACE_SLICE;
    sink->event = *event;
    zt__begin_timed_packet(sink, event->begin_ns);
    if (event->kind == ZT__TRACE_REGION) {
        zt__begin_stage(sink, event);
        return;
    }
    zt__begin_message(packet, ZT__PACKET_TRACK_EVENT);
    zt__put_uint(packet, ZT__EVENT_TYPE, is_slice ? ZT__SLICE_BEGINS : ZT__INSTANT_EVENT);
    if (event->track.device != perfetto->track.device || event->track.number != perfetto->track.number) {
        zt__put_uint(packet, ZT__EVENT_TRACK, zt__track_uuid(perfetto, event->track));
    }
    zt__put_uint(packet, ZT__EVENT_CATEGORY, zt__intern_text(perfetto, ZT__KEY_CATEGORY, event->category));
    zt__put_uint(packet, ZT__EVENT_NAME, zt__intern_text(perfetto, ZT__KEY_EVENT, event->name));
}

/* Flows to regions are in one message, which ends with the event. */
static void zt__begin_packet_flow(zt__trace_sink *sink, uint32_t id, int is_to_region) {
    zt__perfetto *perfetto = sink->perfetto;
    if (!is_to_region) {
        zt__put_fixed64(&perfetto->packet, ZT__EVENT_FLOW, perfetto->identity + id);
        return;
    }
    if (perfetto->packet.depth == 1) {
        zt__begin_message(&perfetto->packet, ZT__EVENT_CORRELATION);
    }
    zt__put_uint(&perfetto->packet, ZT__CORRELATION_SUBMITTED, zt__event_number(perfetto, id));
}

/* A region has a number that calls refer to. */
static void zt__end_packet_flow(zt__trace_sink *sink, uint32_t id) {
    zt__perfetto *perfetto = sink->perfetto;
    if (sink->event.kind != ZT__TRACE_REGION) {
        zt__put_fixed64(&perfetto->packet, ZT__EVENT_ENDING_FLOW, perfetto->identity + id);
    }
}

static void zt__end_packet_slice(zt__trace_sink *sink, uint64_t ns) {
    zt__begin_timed_packet(sink, ns);
    zt__begin_message(&sink->perfetto->packet, ZT__PACKET_TRACK_EVENT);
    zt__put_uint(&sink->perfetto->packet, ZT__EVENT_TYPE, ZT__SLICE_ENDS);
    zt__end_packet(sink);
}

/* ---- counters -------------------------------------------------------------------------------------------- */

/* A unit as labels have it, and as Perfetto numbers it. */
static const struct zt__counter_unit {
    const char *text;
    uint32_t numerator, denominator; /* 0: none */
} zt__counter_units[] = {{"%", 37, 0},   {"ns", 19, 0}, {"bytes", 7, 0},      {"GB/s", 10, 22}, {"/s", 0, 22},
                         {"MHz", 15, 0}, {"W", 29, 0},  {"degrees C", 34, 0}, {"us", 20, 0}};

/* Adds name and unit of a label such as "GPU_BUSY [%]". A unit that Perfetto does not know stays in the name. */
static void zt__put_label(zt__protobuf *interned, const char *prefix, const char *label) {
    const char *bracket = strrchr(label, '[');
    size_t length = bracket && bracket > label && bracket[-1] == ' ' ? strlen(bracket) - 2 : 0;
    const struct zt__counter_unit *unit = NULL;
    char name[1024];
    uint32_t i;
    for (i = 0; length && i < ZT__COUNT_OF(zt__counter_units); i++) {
        unit = zt__equals(zt__counter_units[i].text, bracket + 1, length) ? &zt__counter_units[i] : unit;
    }
    snprintf(name, sizeof name, "%s", prefix);
    zt__copy_text(name + strlen(name), sizeof name - strlen(name), label,
                  unit ? (size_t)(bracket - 1 - label) : strlen(label));
    zt__put_text(interned, ZT__SPEC_NAME, name);
    if (unit && unit->numerator) {
        zt__put_uint(interned, ZT__SPEC_NUMERATOR, unit->numerator);
    }
    if (unit && unit->denominator) {
        zt__put_uint(interned, ZT__SPEC_DENOMINATOR, unit->denominator);
    }
}

static void zt__declare_packet_counters(zt__trace_sink *sink, const zt__trace_counters *counters) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__protobuf *interned = &perfetto->interned;
    uint32_t i;
    perfetto->descriptors++;
    zt__begin_message(interned, ZT__INTERNED_COUNTERS);
    zt__put_uint(interned, ZT__INTERNED_ID, perfetto->descriptors);
    zt__put_uint(interned, ZT__DESCRIBED_GPU, zt__gpu_of(perfetto, perfetto->track));
    zt__begin_message(interned, ZT__DESCRIBED_COUNTERS);
    for (i = 0; i < counters->count; i++) {
        zt__begin_message(interned, ZT__DESCRIPTOR_SPEC);
        zt__put_uint(interned, ZT__SPEC_ID, i + 1);
        zt__put_label(interned, counters->prefix, counters->label_at(counters->labels, i));
        zt__put_uint(interned, ZT__SPEC_GROUP, counters->kind);
        zt__put_uint(interned, ZT__SPEC_DIRECTION, ZT__FORWARDS);
        zt__end_message(interned);
    }
    zt__begin_message(interned, ZT__DESCRIPTOR_GROUP);
    zt__put_uint(interned, ZT__GROUP_ID, ZT__OWN_COUNTER_GROUP + perfetto->descriptors);
    zt__put_text(interned, ZT__GROUP_NAME, counters->group);
    for (i = 0; i < counters->count; i++) {
        zt__put_uint(interned, ZT__GROUP_COUNTER, i + 1);
    }
    zt__end_message(interned);
    zt__end_message(interned);
    zt__end_message(interned);
}

/* Values of one time share a packet. */
static void zt__write_packet_counter(zt__trace_sink *sink, uint32_t counter, uint64_t ns, double value,
                                     int digits) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__protobuf *packet = &perfetto->packet;
    (void)digits;
    if (!perfetto->has_counters || perfetto->counters_ns != ns) {
        zt__begin_timed_packet(sink, ns);
        zt__begin_message(packet, ZT__PACKET_COUNTER_EVENT);
        zt__put_uint(packet, ZT__COUNTERS_DESCRIPTOR, perfetto->descriptors);
        perfetto->has_counters = 1;
        perfetto->counters_ns = ns;
    }
    zt__begin_message(packet, ZT__COUNTERS_COUNTER);
    zt__put_uint(packet, ZT__COUNTER_ID, counter + 1);
    zt__put_number(packet, ZT__COUNTER_INTEGER, ZT__COUNTER_DOUBLE, value);
    zt__end_message(packet);
}

/* ---- the file -------------------------------------------------------------------------------------------- */

/* Returns a number that differs between the profilers of all processes whose files may be joined. */
static uint64_t zt__identify(const zt__trace_sink *sink) {
    const zt_profiler *profiler = sink->profiler;
    char text[256];
    snprintf(text, sizeof text, "%ld %u %llu %llu %s %.100s", sink->program, (unsigned)profiler->id,
             (unsigned long long)profiler->opened_ns, (unsigned long long)profiler->facts.opened_s,
             profiler->facts.uuid, profiler->device_name);
    return zt__hash(text, strlen(text));
}

static int zt__begin_packets(zt__trace_sink *sink) {
    const zt_allocator *allocator = &sink->profiler->config.allocator;
    zt__perfetto *perfetto = (zt__perfetto *)zt__allocate(allocator, 1, sizeof *perfetto);
    sink->perfetto = perfetto;
    if (!perfetto) {
        return 0;
    }
    perfetto->packet.allocator = perfetto->interned.allocator = perfetto->packets.allocator =
        perfetto->file.allocator = allocator;
    zt__create_mutex(&perfetto->mutex);
    perfetto->identity = zt__identify(sink);
    return 1;
}

static int zt__end_packets(zt__trace_sink *sink) {
    zt__perfetto *perfetto = sink->perfetto;
    const zt_allocator *allocator = &sink->profiler->config.allocator;
    int is_complete;
    if (!perfetto) {
        return 0;
    }
    zt__end_packet(sink);
    zt__write_packets(sink);
    is_complete = !perfetto->packet.out_of_memory && !perfetto->interned.out_of_memory &&
                  !perfetto->packets.out_of_memory && !perfetto->file.out_of_memory;
    zt__map_free_values(&perfetto->map, allocator);
    zt__destroy_mutex(&perfetto->mutex);
    zt__free(allocator, perfetto->packet.bytes);
    zt__free(allocator, perfetto->interned.bytes);
    zt__free(allocator, perfetto->packets.bytes);
    zt__free(allocator, perfetto->file.bytes);
    zt__free(allocator, perfetto);
    return is_complete;
}

/* Describes what a track stands for, in a packet of no sequence: the process or a thread of it; the device, which is
   below the process; or a track of the device. */
static void zt__name_packet_track(zt__trace_sink *sink, zt__trace_track track, const char *name) {
    zt__perfetto *perfetto = sink->perfetto;
    zt__protobuf *packet = &perfetto->packet;
    zt__trace_track parent = {track.number ? track.device : 0, 0};
    zt__end_sequence(sink);
    zt__begin_message(packet, ZT__PACKET_TRACK_DESCRIPTOR);
    zt__put_uint(packet, ZT__TRACK_UUID, zt__track_uuid(perfetto, track));
    if (track.device) { /* a thread is below its process in any case */
        zt__put_uint(packet, ZT__TRACK_PARENT, zt__track_uuid(perfetto, parent));
        zt__put_text(packet, ZT__TRACK_NAME, name);
    }
    if (track.device && track.number) {
        zt__put_uint(packet, ZT__TRACK_RANK, track.number);
    } else if (track.device) {
        zt__put_uint(packet, ZT__TRACK_CHILD_ORDERING, ZT__ORDER_BY_RANK);
    } else if (track.number) {
        zt__begin_message(packet, ZT__TRACK_THREAD);
        zt__put_uint(packet, ZT__THREAD_PROCESS, (uint64_t)sink->program);
        zt__put_uint(packet, ZT__THREAD_ID, track.number);
        zt__put_text(packet, ZT__THREAD_NAME, name);
        zt__end_message(packet);
    } else {
        zt__copy_text(perfetto->process_name, sizeof perfetto->process_name, name, strlen(name));
        zt__begin_message(packet, ZT__TRACK_PROCESS);
        zt__put_uint(packet, ZT__PROCESS_ID, (uint64_t)sink->program);
        zt__put_text(packet, ZT__PROCESS_NAME, name);
        zt__end_message(packet);
    }
    zt__end_packet(sink);
}

ZT__PRIVATE const zt__trace_format zt__perfetto_packets = {1,
                                                           zt__begin_packets,
                                                           zt__end_packets,
                                                           zt__name_packet_track,
                                                           zt__begin_packet_sequence,
                                                           zt__begin_packet_queue,
                                                           zt__begin_packet_event,
                                                           zt__add_packet_number,
                                                           zt__add_packet_text,
                                                           zt__add_packet_flag,
                                                           zt__begin_packet_flow,
                                                           zt__end_packet_flow,
                                                           zt__end_packet,
                                                           zt__end_packet_slice,
                                                           zt__declare_packet_counters,
                                                           zt__write_packet_counter};
