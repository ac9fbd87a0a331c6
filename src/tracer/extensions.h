/* Commands and events through pointers that zeDriverGetExtensionFunctionAddress returns, which loaders do not trace. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Called after a pointer was returned to the application. If its function appends
   launches, copies or signals of events, or creates events, puts one of the
   library in its place, which calls the driver's function between prologue and epilogue. The application may keep
   that pointer: it works for as long as the process runs. */
ZT__PRIVATE void zt__wrap_extension(zt__tracer *tracer,
                                    const ze_driver_get_extension_function_address_params_t *parameters);

#endif
