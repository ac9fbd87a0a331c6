/* The states of recordings, what they count, and their probes. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"
#include "regions/reporting.h"

/* All of this is called with the mutex held. */

/* The only function that changes the state of a recording. The page THE LIFE OF A RECORDING has its table. */
ZT__PRIVATE void zt__move_recording(zt_profiler *profiler, zt__recording *recording, zt__recording_state to);

/* Moves a recording into the chain in which its state belongs, or out of all. */
ZT__PRIVATE void zt__chain_recording(zt_profiler *profiler, zt__recording *recording);

/* Moves a recording to the end of its chain. */
ZT__PRIVATE void zt__move_to_end(zt__recording *recording);

/* Returns whether a recording may have run although nobody has reported that. */
ZT__PRIVATE int zt__may_have_run(const zt__recording *recording);

/* Returns how an execution overlaps with those of a recording that were not read. */
ZT__PRIVATE zt__overlap zt__overlap_with(const zt__recording *recording, const void *runs_on);

/* Requests that the next visit looks whether a recording has run although nobody has reported that. */
ZT__PRIVATE void zt__request_look(zt_profiler *profiler, zt__recording *recording);

/* Ensures that a list has a recording or queue to which probes can be added. The current one is closed if it has run,
   or is of the other kind. An OPEN one of a list of unknown kind stays, and the probes that were read are freed at its
   front. Returns 0 without memory; the mutex is unlocked while memory is allocated. */
ZT__PRIVATE int zt__prepare_recording(zt_profiler *profiler, zt__list *list);

/* Detaches the recording or the queue from its list. Its probes return when the device is done with them. It must
   not be READING. */
ZT__PRIVATE void zt__close_recording(zt_profiler *profiler, zt__list *list);

/* Locks the mutex again and again until the recording of a list is not READING. No function of the application
   runs meanwhile, so the wait is short. */
ZT__PRIVATE void zt__await_reading(zt_profiler *profiler, const zt__list *list);

/* Finds a list, and waits as zt__await_reading does. Returns NULL if there is none, or it is forgotten meanwhile. */
ZT__PRIVATE zt__list *zt__find_list_at_rest(zt_profiler *profiler, ze_command_list_handle_t handle);

/* Adds a probe whose region has ended to the recording or queue of its list. */
ZT__PRIVATE void zt__add_to_recording(zt__list *list, zt__probe *probe);

/* Frees the probes of a recording that is read, and the recording. */
ZT__PRIVATE void zt__recycle_recording(zt_profiler *profiler, zt__recording *recording);

/* Loses the sample that a probe owes. */
ZT__PRIVATE void zt__lose_sample(zt_profiler *profiler, zt__recording *recording, zt__probe *probe,
                                 zt_cause cause);

/* Loses the samples that a recording owes. Returns their number. */
ZT__PRIVATE uint32_t zt__lose_samples(zt_profiler *profiler, zt__recording *recording, zt_cause cause);

/* Counts a sample as begun, and as owed by its probe. */
ZT__PRIVATE void zt__owe_sample(zt_profiler *profiler, zt__recording *recording, zt__probe *probe);

/* Counts a sample as begun. */
ZT__PRIVATE void zt__count_begun(zt_profiler *profiler, zt__path *path);

/* Counts a sample as lost, or as dropped, by the cause. It was counted as begun. */
ZT__PRIVATE void zt__count_missing(zt_profiler *profiler, const zt__missing *missing);

/* Counts a region as begun and dropped. Path, region and list are NULL if they are not known. */
ZT__PRIVATE void zt__count_drop(zt_profiler *profiler, zt__path *path, zt__region_record *region,
                                const zt__list *list, zt_cause cause);

/* Removes a probe from the open ones of its list. If regions inside it are still open, they overlap with it,
   and the own time is known neither for it nor for the region around it. */
ZT__PRIVATE void zt__leave_nesting(zt_profiler *profiler, zt__probe *probe);

/* Drops an open region. If it has commands on the list, the probe goes into the recording, else into the
   pool. */
ZT__PRIVATE void zt__drop_region(zt_profiler *profiler, zt__probe *probe, zt_cause cause, int has_commands);

/* Drops the regions of a list that are not ended. Returns the name of one, or NULL. */
ZT__PRIVATE const char *zt__drop_open_regions(zt_profiler *profiler, const zt__list *list);

/* Frees a probe that no recording has. */
ZT__PRIVATE void zt__free_probe(zt_profiler *profiler, zt__probe *probe);

/* Returns the probe that was freed last, because its memory is in the cache, and what the driver has for it. Returns
   NULL if none is free. */
ZT__PRIVATE zt__probe *zt__pop_free_probe(zt__pass *pass);

/* Returns whether samples of a list are on their way. */
ZT__PRIVATE int zt__is_busy(const zt__list *list);

/* Returns the name of a region that was begun and not ended, or NULL. Locks the mutex. */
ZT__PRIVATE const char *zt__name_open_region(const zt_profiler *profiler);

/* Counts what is not collected. Locks the mutex. */
ZT__PRIVATE zt__waiting zt__count_waiting(const zt_profiler *profiler);
