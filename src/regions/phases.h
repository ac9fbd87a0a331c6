/* Phases: their paths and entries in a profiler. */

#pragma once

#include "base/compiler.h"
#include "base/phase_stack.h"
#include "base/system.h"
#include "regions/profiler.h"

/* All of this is called with the mutex held. "Unlocks" means: while memory is allocated. */

/* Returns the path of a phase, or NULL if it has none yet. */
ZT__PRIVATE zt__path *zt__known_path_of_phase(const zt_profiler *profiler, const zt__phase *phase);

/* Returns the path of a phase, added if it is new. Without memory, or if there are too many paths, returns that of the
   phase around it, or the profiler's root. Unlocks. */
ZT__PRIVATE zt__path *zt__find_or_add_path_of_phase(zt_profiler *profiler, const zt__phase *phase);

/* Returns the next path that counts a sample: from its own path on, the phases around it, but not those that count a
   region around it, which is in `outer_phase`; NULL at the end. Needs no mutex. */
ZT__PRIVATE zt__path *zt__next_counting(const zt__path *path, const zt__path *outer_phase);

/* Returns the path of the regions of `path` inside a phase instead of in those that it has, added if it is new. Returns
   NULL without memory. Unlocks. */
ZT__PRIVATE zt__path *zt__place_path(zt_profiler *profiler, zt__path *phase, zt__path *path);

/* Returns the path of the phase that the calling thread is in, or the root, and makes room for what zt__current_entry
   adds. Unlocks. */
ZT__PRIVATE zt__path *zt__prepare_phase(zt_profiler *profiler);

/* Host time counts since profilers are open: moves the begin of a frame that was begun before to `since_ns`. */
ZT__PRIVATE void zt__count_from(zt__phase_frame *frame, uint64_t since_ns);

/* Returns the entry of the phase that the calling thread is in, added if it is new. NULL: it is in no phase, or in one
   that was adopted and is over, or there is no memory. */
ZT__PRIVATE zt__entry *zt__current_entry(zt_profiler *profiler);

/* Lets an entry have one more use, for a sample. Returns the entry, which may be NULL. */
ZT__PRIVATE zt__entry *zt__use_entry(zt__entry *entry);

/* Takes a use back: its sample has never run, or is submitted anew. `*place` becomes NULL; it may be NULL. */
ZT__PRIVATE void zt__release_entry(zt_profiler *profiler, zt__entry **place);

/* The same for a sample that is lost or dropped: its entry, and those around it, are incomplete. */
ZT__PRIVATE void zt__miss_in_phases(zt_profiler *profiler, zt__entry **place);

/* The same for a sample that is collected: adds its GPU time to its entries, but not to those of phases that count a
   region around it, which is in `outer_phase`. NaN: the GPU time is not known. */
ZT__PRIVATE void zt__add_to_entries(zt_profiler *profiler, const zt__path *outer_phase, zt__entry **place,
                                    double gpu_ns);

/* Returns the entry of this number, or NULL. */
ZT__PRIVATE zt__entry *zt__find_entry(const zt_profiler *profiler, const uint32_t *number);

/* Makes two entries with one number parts of a whole. Called by the thread in whose phase both are, without a mutex.
   Returns 0 without memory. */
ZT__PRIVATE int zt__join_entries(const zt_profiler *profiler, zt__entry *first, zt__entry *part);

/* Adds to a whole the part that is over. Returns whether it was the last: then `part` has all that the whole has. No mutex
   is held. */
ZT__PRIVATE int zt__leave_whole_entry(zt__entry *part);

/* Notes that the entry of this number has ended. */
ZT__PRIVATE void zt__end_entry(zt_profiler *profiler, const uint32_t *number);

/* Returns an entry of profiler->ended_entries to the pool. */
ZT__PRIVATE void zt__free_entry(zt_profiler *profiler, zt__entry *entry);

/* Called before a recording is submitted: adds the paths of its probes in the phase of the calling thread. Unlocks. */
ZT__PRIVATE void zt__prepare_recording_for_phase(zt_profiler *profiler, zt__list *list);

/* Called when the driver has accepted: moves the probes of a recording into that phase. What they owe from before must be
   lost already. */
ZT__PRIVATE void zt__move_into_phase(zt_profiler *profiler, zt__recording *recording);
