/* Phases: what a thread submits belongs to those that it is in. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* All of this is called with the mutex held. */

/* Returns the path of the phase that the calling thread is in, added if it is new, and makes room for the entries that
   zt__join_entry needs; the profiler's root for none, or without memory. The mutex is unlocked while memory is allocated.
 */
ZT__PRIVATE zt__path *zt__enter_phase(zt_profiler *profiler);

/* Returns whether a path is that of a phase, or the root. */
ZT__PRIVATE int zt__is_phase(const zt__path *path);

/* Returns the phase of a path, or the root. */
ZT__PRIVATE zt__path *zt__phase_of(zt__path *path);

/* Lets the sample of a probe be one of the entry of the phase that the calling thread is in. There is none if the thread
   is in no phase, or in one that was adopted and is over, or without memory. */
ZT__PRIVATE void zt__join_entry(zt_profiler *profiler, zt__probe *probe);

/* Takes that back: the sample has never begun, or begins anew. */
ZT__PRIVATE void zt__forget_entry(zt_profiler *profiler, zt__entry **place);

/* Adds the GPU time of a sample to its entry and to those around it, up to but not including that of the region around
   the sample. NaN: the sample is lost or dropped. `entry` may be NULL. */
ZT__PRIVATE void zt__leave_entry(zt_profiler *profiler, zt__entry *entry, const zt__entry *outer_entry,
                                 double gpu_ns);

/* Returns the path of the regions of `path` inside a phase instead of in those that it has, added if it is new. Returns
   NULL without memory. The mutex is unlocked while memory is allocated. */
ZT__PRIVATE zt__path *zt__place_path(zt_profiler *profiler, zt__path *phase, zt__path *path);

/* Called before a recording is submitted: adds the paths of its probes in the phase of the calling thread, which
   zt__move_into_phase finds once the driver has accepted. The mutex is unlocked while memory is allocated. */
ZT__PRIVATE void zt__prepare_phase(zt_profiler *profiler, zt__list *list);

/* Moves the probes of a recording into the phase of the calling thread, which has submitted them. What they owe from
   before must be lost already. */
ZT__PRIVATE void zt__move_into_phase(zt_profiler *profiler, zt__recording *recording);

/* Returns an entry of profiler->ended_entries to the pool. */
ZT__PRIVATE void zt__free_entry(zt_profiler *profiler, zt__entry *entry);

/* From now on phases are reported to a profiler, until zt__stop_listening. No mutex is held. */
ZT__PRIVATE void zt__start_listening(zt_profiler *profiler);

/* Waits until no thread reports a phase to a profiler that is not registered any more. No mutex is held. */
ZT__PRIVATE void zt__stop_listening(zt_profiler *profiler);
