/* Hot spots: where kernels lie on the device. Samples are read before one is unloaded. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "modules/loaded.h"
#include "tracer/hotspots.h"

#ifdef ZETOOLS_TRACER

/* Reads the debug information of a module, or of all if that is NULL, where kernels have samples, unless it
   is too large. With `is_last`, the handles are not valid afterwards. `reading` is held. */
ZT__PRIVATE void zt__keep_debug_info(zt__hotspots *hotspots, ze_module_handle_t handle, int is_last);

/* Called before a kernel or, if it is not NULL, a module is destroyed, and before a kernel takes the place of
   another: reads what was sampled there. */
ZT__PRIVATE void zt__before_unload(zt__hotspots *hotspots, ze_module_handle_t module);

/* Finds out where a kernel lies, and what its instructions are. Its owner must not destroy it meanwhile. Reads
   the samples of places that it replaces, removes these, and adds its own. */
ZT__PRIVATE void zt__place_kernel(zt__hotspots *hotspots, const zt__loaded_kernel *loaded);

#endif
