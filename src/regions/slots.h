/* The states of slots, the slots of a list, and what a slot has of the device. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* States and chains: with the mutex held, except zt__count_states, which locks it. */

/* Counts one more sample on a path as begun, or with -1 one less. */
ZT__PRIVATE void zt__count_begun(zt_profiler *profiler, zt__path *path, int change);

ZT__PRIVATE void zt__move_slot(zt_profiler *profiler, zt__slot *slot, zt__slot_state to);

ZT__PRIVATE void zt__move_list(zt_profiler *profiler, zt__list *list, zt__list_state to);

ZT__PRIVATE int zt__is_final(const zt__slot *slot);

ZT__PRIVATE int zt__is_complete(const zt__slot *slot);

/* Returns whether a PARTIAL slot was submitted, and is not known to be complete since then. */
ZT__PRIVATE int zt__is_submitted(const zt__slot *slot);

/* Returns whether the event of a PARTIAL slot shows when the last execution of its commands is complete. */
ZT__PRIVATE int zt__shows_end(const zt__slot *slot);

/* Returns whether the list of a slot also ran without zt_execute. If that list was destroyed, the record may
   already describe another list with its handle. */
ZT__PRIVATE int zt__ran_unobserved(const zt__slot *slot);

/* Returns whether dropped regions of a list are on their way, and their events will show when they end. */
ZT__PRIVATE int zt__awaits_ends(const zt__list *list);

/* Returns whether samples of a list are known to be on their way, or are being read. */
ZT__PRIVATE int zt__is_on_its_way(const zt__list *list);

/* Counts a sample of a slot as lost, or with `by` -1 no longer. */
ZT__PRIVATE void zt__count_lost(zt_profiler *profiler, const zt__slot *slot, zt_cause cause, int by);

/* Counts a region that was begun at `since_ns`. Region and list are NULL if they could not be recorded. */
ZT__PRIVATE void zt__count_dropped(zt_profiler *profiler, zt__region_record *region, const zt__list *list,
                                   uint64_t since_ns, zt_cause cause);

/* Returns the name of a region that was begun and not ended, or NULL. */
ZT__PRIVATE const char *zt__name_open_region(const zt_profiler *profiler);

ZT__PRIVATE void zt__count_states(const zt_profiler *profiler, uint64_t counts[ZT__SLOT_STATE_COUNT]);

/* Removes a slot from the open ones of its list. If regions inside it are still open, they overlap with it,
   and the own time is known neither for it nor for the region around it. */
ZT__PRIVATE void zt__leave_nesting(zt_profiler *profiler, zt__slot *slot);

/* Binds a slot that has ended to its list. */
ZT__PRIVATE void zt__bind_slot(zt__slot *slot);

ZT__PRIVATE void zt__unbind_slot(zt__slot *slot);

/* Slots are used in turns, because the cache of the core that collects may still hold those that it freed
   last: their memory, and what the driver has for them. */
ZT__PRIVATE void zt__push_free_slot(zt_profiler *profiler, zt__slot *slot);

/* Returns NULL if there is none. */
ZT__PRIVATE zt__slot *zt__pop_free_slot(zt__pass *pass);

/* Frees a slot that is not in the chain of a list. */
ZT__PRIVATE void zt__free_slot(zt_profiler *profiler, zt__slot *slot);

/* What slots have of the device: no mutex is held. */

ZT__PRIVATE void zt__destroy_block(zt_profiler *profiler, zt__slot_block *block);

/* Resets the event and the queries of a slot. On failure, `*call` is the call that failed. */
ZT__PRIVATE ze_result_t zt__reset_handles(const zt__pass *pass, const zt__slot *slot, const char **call);

/* Makes one more block of slots for a pass. On failure, `*call` is the call that failed. If there are
   config.max_slots already, returns OUT_OF_DEVICE_MEMORY with `*call` NULL. */
ZT__PRIVATE ze_result_t zt__make_slots(zt_profiler *profiler, zt__pass *pass, const char **call);
