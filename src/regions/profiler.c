/* What a profiler is made of: probes, recordings, lists, regions, paths, passes. */

#include "regions/profiler.h"

#include "base/compiler.h"
#include "base/diagnostics.h"
#include "base/memory.h"

ZT__PRIVATE zt_profiler *zt__mutable(const zt_profiler *profiler) {
    return (zt_profiler *)profiler;
}

ZT__PRIVATE zt__diagnostics *zt__diagnostics_of(const zt_profiler *profiler) {
    return profiler ? &zt__mutable(profiler)->diagnostics : NULL;
}

ZT__PRIVATE const zt_allocator *zt__allocator_of(const zt_profiler *profiler) {
    return profiler ? &profiler->config.allocator : &zt__default_allocator;
}
