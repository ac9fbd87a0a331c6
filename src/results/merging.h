/* zt_merge: statistics of several profilers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "regions/profiler.h"

/* Copies statistics to another layout of the profiler `into`, by its allocator, and makes room for them in `to`, which is
   of this profiler. `columns` has the column of this layout for each of the other; NULL: they are the same. Nobody
   collects meanwhile. Returns 0 without memory. */
ZT__PRIVATE int zt__copy_statistics(zt_profiler *into, const zt__sample_layout *to_layout, zt__statistics *to,
                                    const zt__sample_layout *layout, const zt__statistics *statistics,
                                    const uint32_t *columns, zt__statistics *copied);

/* Adds what belongs to the samples of another path. The mutex is held, as for the next one. */
ZT__PRIVATE void zt__add_path_sums(zt__path *to, const zt__path *added);

/* Adds what is not known of another path, and why, and its memory. */
ZT__PRIVATE void zt__add_path_losses(zt__path *to, const zt__path *added);

/* Adds the memory of all phases and of none. What is in use now stays that of `into`. The mutex is held. */
ZT__PRIVATE void zt__add_memory(zt_profiler *into, const zt_memory_info *info, const zt__phase_memory *root);

/* Adds what was lost and dropped. The mutex is held. */
ZT__PRIVATE void zt__add_causes(zt_profiler *into, const uint64_t *causes, uint64_t unobserved_lists);
