/* How long the library itself has kept threads of the program busy. */

#include "reports/own_time.h"

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/platform.h"
#include "regions/profiler.h"
#include "tracer/dispatcher.h"
#include "tracer/tracer.h"

ZT__PRIVATE void zt__measure_own_time(const zt_profiler *profiler, double *open_ns, double *busy_ns) {
#ifdef ZETOOLS_TRACER
    const zt__tracer *tracer;
#endif
    zt_profiler *changing = zt__mutable(profiler);
    *open_ns = *busy_ns = zt__nan();
    if (!profiler || profiler->opened_ns == 0) {
        return;
    }
    *open_ns = (double)(zt__now_ns() - profiler->opened_ns);
    zt__lock(&changing->mutex);
    *busy_ns =
        (double)(profiler->begins.ns + profiler->ends.ns + profiler->executions.ns + profiler->slow.ns);
    zt__unlock(&changing->mutex);
#ifdef ZETOOLS_TRACER
    tracer = zt__load(&profiler->tracer);
    *busy_ns += tracer ? (double)zt__get_callback_ns(tracer) : 0;
#endif
}
