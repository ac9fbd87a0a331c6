/* Which slots are read, and what the driver returns of each. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* A collection: which slots it reads, and how far it is. Its pointers stay valid while the mutex is unlocked,
   because only the thread that holds the collector removes slots from lists, and lists from the profiler. */
typedef struct zt__collection {
    zt__list *list;                       /* the current list, */
    zt__slot *slot;                       /* and the next slot in it */
    int one_list;                         /* reads this list only */
    int thorough;                         /* queries slots that follow one that is not ready */
    int is_blocked[ZT__SLOT_STATE_COUNT]; /* an earlier slot of the list in this state is not ready */
} zt__collection;

/* Continues with the first slot of a list, which may be NULL. */
ZT__PRIVATE void zt__enter_list(zt_profiler *profiler, zt__collection *collection, zt__list *list);

/* Moves up to 64 slots of one pass to READING. Returns 0 if there are none left. */
ZT__PRIVATE int zt__fill_batch(zt_profiler *profiler, zt__collection *collection);

/* Ensures that `*memory` has room for `count` elements. Its contents are lost. Returns 0 without memory. */
ZT__PRIVATE int zt__ensure_room(const zt_profiler *profiler, void **memory, size_t *held, size_t count,
                                size_t size);

ZT__PRIVATE void zt__lose(zt__reading *reading, zt_cause cause);

/* Reads the kernel time stamps of an event. Those of tiles, which run at the same time, are combined into
   those of the whole. Returns NOT_READY if the event has not signalled. */
ZT__PRIVATE ze_result_t zt__query_kernel_stamps(const zt_profiler *profiler, ze_event_handle_t event,
                                                zt__sample_times *times, const char **call);

/* Reads the time stamps of a launch from the event of the application that it signals. If the event had
   signalled before the launch, it still has the old time stamps until its end changes. The begin was read
   before the end and may be the old one, so both are then read again. */
ZT__PRIVATE ze_result_t zt__read_kept_stamps(const zt_profiler *profiler, ze_event_handle_t event,
                                             int was_signalled, uint64_t signalled_end,
                                             zt__sample_times *times, const char **call);

/* Returns whether all time stamps of a slot are written. Memory that a copy has not written yet has all bits
   set. It may be freed when all of it is written. */
ZT__PRIVATE int zt__has_all_stamps(const uint64_t *stamps);

/* Reads the slots of the batch, and resets those that are ready. A slot that is not ready ends the queries on
   its list, except in a thorough collection and of slots that are final. Where slots may become ready out of
   order, some tens of them do. */
ZT__PRIVATE void zt__read_batch(zt_profiler *profiler, zt__collection *collection);
