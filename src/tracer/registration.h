/* Registration of callbacks with the loader. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "tracer/tracer.h"

#ifdef ZETOOLS_TRACER

/* Registers callbacks for the calls that a tracer observes, and for zeDriverGet, by which it is tested whether
   callbacks come; as far as the loader can trace them. zt__dispatch_setup is held. */
ZT__PRIVATE ze_result_t zt__register_calls(const zt__tracer *tracer);

/* Enables the loader's tracing layer again, if callbacks no longer come, and remembers that launches are missing. */
ZT__PRIVATE void zt__check_layer(zt__tracer *tracer);

/* The `check_tracing` of a profiler. */
ZT__PRIVATE void zt__check_layer_of(zt_profiler *profiler);

/* Called when the tracer stops. If the loader cannot disable the layer, callbacks still come. The
   registration is then retired, unless too many already were. zt__dispatch_setup is held. */
ZT__PRIVATE void zt__disable_layer(void);

/* Called in a forked child, which traces nothing because the driver does not work there. The threads that
   may have held the locks do not exist in it. */
ZT__PRIVATE void zt__forget_tracers(void);

/* Makes a tracer the live one, or no longer. A phase during which process->tracer_changes is odd and stays the same has
   been observed from its begin to its end. zt__dispatch_setup is held. */
ZT__PRIVATE void zt__set_live(zt__tracer *tracer, int is_live);

#endif
