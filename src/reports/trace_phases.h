/* Phases in a trace: what was submitted in an entry of each, on the device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "reports/trace_sink.h"

/* One entry of a phase. */
typedef struct zt__traced_phase {
    zt__phase_span span; /* while it is open, without an end */
    const char *name;
    int is_open;
    uint64_t kept;             /* its place among all phases, in the order of their ends: inner ones first */
    uint64_t samples;          /* of the trace, that were submitted in it or in a phase inside */
    uint64_t begin_ns, end_ns; /* host time: the first begin and the last end of these samples */
    uint32_t outer;            /* the phase around it, or UINT32_MAX */
    uint32_t around;           /* the same, if that is on the same track */
    uint32_t track;            /* of the device, from 0 */
} zt__traced_phase;

typedef struct zt__traced_phases {
    zt__traced_phase *phases; /* sorted by entry: outer ones come first */
    uint32_t count;
    zt__traced_phase **on_device; /* those with samples, by track and begin */
    uint32_t on_device_count;
    uint32_t track_count;
} zt__traced_phases;

/* Copies the phases of a timeline, and those that are open: of other threads only those in which something was
   submitted. The caller calls zt__free_phases, also if this returns 0: without memory. */
ZT__PRIVATE int zt__copy_phases(zt_profiler *profiler, zt__traced_phases *phases);

/* Adds a sample to the phase with the entry that it was submitted in, if there is one. */
ZT__PRIVATE void zt__add_to_phase(zt__traced_phases *phases, uint32_t entry, uint64_t begin_ns,
                                  uint64_t end_ns);

/* When all samples are added: adds those of inner phases to outer ones, and distributes all phases with samples to tracks
   of the device, on which they are nested in each other or disjoint. Returns 0 without memory. */
ZT__PRIVATE int zt__place_phases(zt_profiler *profiler, zt__traced_phases *phases);

/* Writes the tracks of phases, from track 1 of the device on. The flow to the first phase of the array has the number
   `first_flow`, and so on. */
ZT__PRIVATE void zt__write_phases_of_device(zt__trace_sink *sink, uint32_t device,
                                            const zt__traced_phases *phases, uint32_t first_flow);

ZT__PRIVATE void zt__free_phases(zt_profiler *profiler, zt__traced_phases *phases);
