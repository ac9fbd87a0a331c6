/* What a profiler is made of: slots, lists, regions, paths, passes. */

#include "regions/profiler.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"

/* ---- slots ----------------------------------------------------------------------------------------------- */

/* clang-format off */
ZT__PRIVATE const unsigned char zt__transitions[ZT__SLOT_STATE_COUNT][ZT__SLOT_STATE_COUNT] = {
    /* from, to        FREE      OPEN        RECORDED PENDING     READING ARMED     PARTIAL RETIRED */
    /* FREE */     {ZT__NO,   ZT__BEGINS, ZT__NO,  ZT__NO,     ZT__NO, ZT__NO,   ZT__NO, ZT__OK},
    /* OPEN */     {ZT__OK,   ZT__NO,     ZT__OK,  ZT__OK,     ZT__NO, ZT__NO,   ZT__OK, ZT__OK},
    /* RECORDED */ {ZT__BACK, ZT__NO,     ZT__NO,  ZT__OK,     ZT__OK, ZT__NO,   ZT__NO, ZT__BACK},
    /* PENDING */  {ZT__NO,   ZT__NO,     ZT__OK,  ZT__NO,     ZT__OK, ZT__BACK, ZT__NO, ZT__OK},
    /* READING */  {ZT__OK,   ZT__NO,     ZT__OK,  ZT__OK,     ZT__NO, ZT__OK,   ZT__OK, ZT__OK},
    /* ARMED */    {ZT__NO,   ZT__NO,     ZT__NO,  ZT__BEGINS, ZT__OK, ZT__NO,   ZT__NO, ZT__NO},
    /* PARTIAL */  {ZT__NO,   ZT__NO,     ZT__NO,  ZT__NO,     ZT__OK, ZT__NO,   ZT__NO, ZT__OK},
    /* RETIRED */  {ZT__NO,   ZT__NO,     ZT__NO,  ZT__NO,     ZT__NO, ZT__NO,   ZT__NO, ZT__NO},
};

/* Where a slot goes from READING. READING stands for the state in which the collector found it. A slot that
   becomes FREE leaves its list. */
ZT__PRIVATE const unsigned char zt__states_after_reading[ZT__CONDITION_COUNT][3] = {
    /*                its list may run again:             it is final
                      not dropped       dropped */
    /* NOT_READY */  {ZT__SLOT_READING, ZT__SLOT_READING, ZT__SLOT_READING},
    /* NEVER_RUNS */ {ZT__SLOT_FREE,    ZT__SLOT_FREE,    ZT__SLOT_FREE},
    /* RESET */      {ZT__SLOT_ARMED,   ZT__SLOT_PARTIAL, ZT__SLOT_FREE},
    /* NOT_RESET */  {ZT__SLOT_PARTIAL, ZT__SLOT_PARTIAL, ZT__SLOT_RETIRED},
    /* STILL_USED */ {ZT__SLOT_RETIRED, ZT__SLOT_RETIRED, ZT__SLOT_RETIRED},
};
/* clang-format on */

/* ---- the profiler ---------------------------------------------------------------------------------------- */

ZT__PRIVATE zt_profiler *zt__mutable(const zt_profiler *profiler) {
    return (zt_profiler *)profiler;
}

ZT__PRIVATE zt__diagnostics *zt__diagnostics_of(const zt_profiler *profiler) {
    return profiler ? &zt__mutable(profiler)->diagnostics : NULL;
}

ZT__PRIVATE const zt_allocator *zt__allocator_of(const zt_profiler *profiler) {
    return profiler ? &profiler->config.allocator : &zt__default_allocator;
}
