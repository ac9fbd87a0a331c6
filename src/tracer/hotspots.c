/* What hot spots are made of: modules, kernels, places, samples. */

#include "tracer/hotspots.h"

#include "base/compiler.h"
#include "regions/profiler.h"

#ifdef ZETOOLS_TRACER

/* ---- kernels, modules and results ------------------------------------------------------------------------ */

ZT__PRIVATE zt__hotspots *zt__hotspots_of(const zt_profiler *profiler) {
    return profiler ? (zt__hotspots *)zt__load(&profiler->hotspots) : NULL;
}

ZT__PRIVATE void zt__set_module(zt__sampled_kernel *kernel, zt__sampled_module *module) {
    if (module) {
        module->kernel_count++;
    }
    if (kernel->module) {
        kernel->module->kernel_count--;
    }
    kernel->module = module;
}

/* ---- where kernels lie: with the mutex held -------------------------------------------------------------- */

ZT__PRIVATE int zt__has_address(const zt__place *place, uint32_t address) {
    return (uint32_t)(address - (uint32_t)place->base) < place->size;
}

ZT__PRIVATE int zt__replaces(const zt__place *later, const zt__place *earlier) {
    return later->base < earlier->base + earlier->size && earlier->base < later->base + later->size;
}

#endif
